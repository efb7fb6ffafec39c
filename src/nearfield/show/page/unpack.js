// The data of a page: arrays that were deflated and written in base64 (nearfield.show.parts packs them).

const KINDS = {
  f4: Float32Array,
  f8: Float64Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
};

/**
 * @param {{type: string, data: string}} part
 * @returns {Promise<any>} a typed array, or what JSON holds if the type is "json"
 */
export async function unpack({ type, data }) {
  const bytes = await inflated(fromBase64(data));
  return type === "json" ? JSON.parse(new TextDecoder().decode(bytes)) : new KINDS[type](bytes.buffer);
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
