// Points by WebGL2: one sprite each, drawn off the screen and put into the canvas that is seen. What is marked is
// told to the shader by a byte for each point, so that nothing but what changed is sent to the graphics card.

const VERTICES = `#version 300 es
layout(location = 0) in vec2 place;
layout(location = 1) in vec4 colour;
layout(location = 2) in float mark;
uniform vec2 centre, zoom;
uniform float radius, opacity, faded;
out vec4 fill;
out float reach;
flat out float rim;
void main() {
  bool raised = mark > 1.5;
  float alpha = colour.a * (raised ? 1.0 : mark > 0.5 ? opacity * faded : opacity);
  fill = vec4(colour.rgb, alpha);
  rim = mark > 2.5 ? 1.0 : 0.0;
  reach = raised ? 1.3 * radius + 1.5 * rim : radius;
  gl_PointSize = 2.0 * reach + 2.0;
  gl_Position = colour.a > 0.0 ? vec4((place - centre) * zoom, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENTS = `#version 300 es
precision highp float;
in vec4 fill;
in float reach;
flat in float rim;
uniform vec3 accent;
out vec4 seen;
void main() {
  float distance = length(gl_PointCoord - 0.5) * (2.0 * reach + 2.0);
  float cover = clamp(reach + 0.5 - distance, 0.0, 1.0);
  vec3 tint = rim > 0.5 ? mix(fill.rgb, accent, clamp(distance - reach + 2.5, 0.0, 1.0)) : fill.rgb;
  float alpha = fill.a * cover;
  seen = vec4(tint * alpha, alpha);
}`;

export class WebGLPainter {
  name = "webgl2";
  #gl;
  #canvas;
  #uniforms = {};
  #buffers = {};
  #sizes = {};
  #count = 0;

  /**
   * @param {() => void} onLost called when the browser takes the context away
   * @param {boolean} slow whether a graphics card that is imitated will do; canvas2d.js is ten times as quick as that
   * @throws {Error} where there is no WebGL2
   */
  constructor(onLost, slow = false) {
    this.#canvas = document.createElement("canvas");
    const wanted = { antialias: false, depth: false, failIfMajorPerformanceCaveat: !slow };
    const gl = this.#canvas.getContext("webgl2", wanted);
    if (!gl) throw new Error("there is no WebGL2");
    if (!slow && imitated(gl)) throw new Error("there is no graphics card behind WebGL2");
    this.#gl = gl;
    this.#canvas.addEventListener("webglcontextlost", onLost);
    const program = linked(gl);
    gl.useProgram(program);
    for (const name of ["centre", "zoom", "radius", "opacity", "faded", "accent"]) {
      this.#uniforms[name] = gl.getUniformLocation(program, name);
    }
    for (const [at, name] of ["positions", "colours", "marks"].entries()) {
      this.#buffers[name] = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffers[name]);
      gl.enableVertexAttribArray(at);
      if (name === "positions") gl.vertexAttribPointer(at, 2, gl.FLOAT, false, 0, 0);
      if (name === "colours") gl.vertexAttribPointer(at, 4, gl.UNSIGNED_BYTE, true, 0, 0);
      if (name === "marks") gl.vertexAttribPointer(at, 1, gl.UNSIGNED_BYTE, false, 0, 0);
    }
    this.#buffers.order = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.#buffers.order);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** @param {Float32Array} xy */
  setPositions(xy) {
    this.#send("positions", this.#gl.ARRAY_BUFFER, xy);
    this.#count = xy.length / 2;
  }

  /** @param {Uint8Array} rgba */
  setColours(rgba) {
    this.#send("colours", this.#gl.ARRAY_BUFFER, rgba);
  }

  /**
   * @param {Uint8Array} marks one of PLAIN, FADED, RAISED, RIMMED for each point
   * @param {Uint32Array} order in which the points are drawn
   */
  setMarks(marks, order) {
    this.#send("marks", this.#gl.ARRAY_BUFFER, marks);
    this.#send("order", this.#gl.ELEMENT_ARRAY_BUFFER, order);
  }

  /**
   * @param {CanvasRenderingContext2D} context of the canvas that is seen
   * @param {import("./view.js").Frame} frame
   */
  paint(context, frame) {
    const { width, height } = context.canvas;
    const gl = this.#gl;
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    const { camera, look, ratio } = frame;
    gl.viewport(0, 0, width, height);
    gl.clearColor(...look.ground.map((part) => part / 255), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.#uniforms.centre, camera.x, camera.y);
    gl.uniform2f(this.#uniforms.zoom, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform1f(this.#uniforms.radius, frame.radius * ratio);
    gl.uniform1f(this.#uniforms.opacity, frame.opacity);
    gl.uniform1f(this.#uniforms.faded, frame.faded);
    gl.uniform3f(this.#uniforms.accent, ...look.accent.map((part) => part / 255));
    if (this.#count) gl.drawElements(gl.POINTS, this.#count, gl.UNSIGNED_INT, 0);
    context.drawImage(this.#canvas, 0, 0);
  }

  /** Give everything back; also how a test takes the context away. */
  dispose() {
    this.#gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Send an array, into the buffer there is if it fits: that is quicker than a new one. */
  #send(name, target, values) {
    const gl = this.#gl;
    gl.bindBuffer(target, this.#buffers[name]);
    if (this.#sizes[name] === values.byteLength) gl.bufferSubData(target, 0, values);
    else gl.bufferData(target, values, gl.DYNAMIC_DRAW);
    this.#sizes[name] = values.byteLength;
  }
}

/** Whether the processor imitates a graphics card; not all browsers say so when they are asked for a real one. */
function imitated(gl) {
  const known = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = gl.getParameter(known ? known.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(renderer));
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTICES],
    [gl.FRAGMENT_SHADER, FRAGMENTS],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(`the points' shader does not link: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
