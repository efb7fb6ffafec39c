// What is drawn on top of the points: names, rings around pins, new points, the hovered point, the lasso.

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {import("./view.js").Frame} frame
 */
export function drawOverlay(context, frame) {
  const { look } = frame;
  context.lineJoin = "round";
  drawNames(context, frame);
  for (const i of frame.pinned) {
    const [x, y] = pixelOf(frame, frame.positions, i);
    ring(context, x, y, frame.radius * 1.3 + 4, 4.5, css(look.ground));
    ring(context, x, y, frame.radius * 1.3 + 4, 2, css(look.ink));
  }
  if (frame.extra) drawExtra(context, frame);
  if (frame.hovered >= 0) {
    const [x, y] = pixelOf(frame, frame.positions, frame.hovered);
    disc(context, x, y, Math.max(frame.radius * 1.5, 4), css(frame.colours.subarray(4 * frame.hovered)));
    ring(context, x, y, Math.max(frame.radius * 1.5, 4) + 1, 2, css(look.ink));
  }
  if (frame.lasso) drawLasso(context, frame.lasso, look);
}

/** @returns {string} a colour of three bytes as CSS has it */
export function css([red, green, blue], opacity = 1) {
  return `rgb(${red} ${green} ${blue} / ${opacity})`;
}

function pixelOf(frame, xy, i) {
  return frame.camera.pixel(xy[2 * i], xy[2 * i + 1]);
}

function disc(context, x, y, radius, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function ring(context, x, y, radius, width, colour) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

/** New points are diamonds, so that they are told from the others without colour. */
function drawExtra(context, { extra, camera, look, radius }) {
  const reach = Math.max(radius * 1.8, 6);
  for (let i = 0; i < extra.positions.length / 2; i++) {
    const [x, y] = camera.pixel(extra.positions[2 * i], extra.positions[2 * i + 1]);
    context.beginPath();
    context.moveTo(x, y - reach);
    context.lineTo(x + reach, y);
    context.lineTo(x, y + reach);
    context.lineTo(x - reach, y);
    context.closePath();
    context.fillStyle = css(extra.colours ? extra.colours.subarray(4 * i) : look.accent);
    context.fill();
    context.strokeStyle = css(look.ground);
    context.lineWidth = 3;
    context.stroke();
    context.strokeStyle = css(look.ink);
    context.lineWidth = 1.5;
    context.stroke();
  }
}

function drawLasso(context, polygon, look) {
  context.beginPath();
  for (const [x, y] of polygon) context.lineTo(x, y);
  context.closePath();
  context.fillStyle = css(look.accent, 0.12);
  context.fill();
  context.setLineDash([6, 4]);
  context.strokeStyle = css(look.accent);
  context.lineWidth = 1.5;
  context.stroke();
  context.setLineDash([]);
}

/** Names of classes where they lie, the largest first; one that would cover another moves aside or is left out. */
function drawNames(context, { names, camera, look }) {
  context.font = `600 ${names.length > 12 ? 13 : 14}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const taken = [];
  for (const { text, x, y } of names) {
    const [px, middle] = camera.pixel(x, y);
    const half = context.measureText(text).width / 2 + 3;
    const boxes = [0, 20, -20].map((aside) => [px - half, middle + aside - 10, px + half, middle + aside + 10]);
    const box = boxes.find((each) => !taken.some((other) => overlap(each, other)));
    if (!box) continue;
    taken.push(box);
    context.strokeStyle = css(look.ground, 0.85);
    context.lineWidth = 4;
    context.strokeText(text, px, box[1] + 10);
    context.fillStyle = css(look.ink);
    context.fillText(text, px, box[1] + 10);
  }
}

function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}
