// Axes: round numbers in a range, and where a value lies.

// ticks are round numbers from 0 to at least the highest, some count of them.
const ticks = (highest, most) => {
  if (!(highest > 0)) return [0, 1]
  const rough = highest / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough * 0.999)
  const all = []
  for (let i = 0; (i - 1) * step < highest * 0.999999; i++) all.push(i * step)
  return all
}

// logTicks are powers of ten, and what is between them where there are few.
const logTicks = (lowest, highest) => {
  const all = []
  const few = Math.log10(highest / lowest) < 2.5
  for (let power = 10 ** Math.floor(Math.log10(lowest)); power <= highest * 1.001; power *= 10) {
    for (const n of few ? [1, 2, 5] : [1]) {
      if (n * power >= lowest * 0.999 && n * power <= highest * 1.001) all.push(n * power)
    }
  }
  return all
}

const linear = (from, to, start, end) => value => start + (value - from) / (to - from) * (end - start)
const logarithmic = (from, to, start, end) => {
  const place = linear(Math.log(from), Math.log(to), start, end)
  return value => place(Math.log(value))
}

// plain writes a tick, without digits that say nothing.
const plain = n => n >= 1000 ? number(n) : String(Number(n.toPrecision(3)))

// fit shortens a text to a width, in the middle, where names differ least.
const fit = (text, width, letter = 7) => {
  const most = Math.max(5, Math.floor(width / letter))
  const letters = [...text]
  if (letters.length <= most) return text
  const half = Math.floor((most - 1) / 2)
  return letters.slice(0, most - 1 - half).join('') + '…' + letters.slice(-half).join('')
}

const words = (x, y, text, { anchor = 'start', of = '' } = {}) => shape('text', { x, y, 'text-anchor': anchor, class: of }, text)
const stroke = (of, x1, y1, x2, y2) => shape('path', { class: of, d: `M${x1} ${y1}L${x2} ${y2}` })
const canvas = (width, height, label, ...children) =>
  shape('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, children)

// legend says what colours and lines mean.
const legend = (...all) => node('ul', { class: 'legend' }, all.filter(Boolean).map(([of, text]) =>
  node('li', {}, shape('svg', { viewBox: '0 0 22 12', 'aria-hidden': 'true' }, sample(of)), text)))
const sample = of => /level|limit|base/.test(of) ? stroke(of, 0, 6, 22, 6)
  : /spot|ring/.test(of) ? shape('circle', { class: of, cx: 11, cy: 6, r: 4.5 }) : shape('rect', { class: of, x: 0, y: 1, width: 22, height: 10, rx: 2 })
