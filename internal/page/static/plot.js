// Points and steps: the drawings of a backtest.

// scatter draws points {x, y, of, text, label}: those with a label are named where
// there is room.
const scatter = (width, { label, points, xTitle, yTitle, yTicks, yText, limitX, limitY }) => {
  const height = Math.max(240, Math.min(320, width * 0.62))
  const [left, right, top, bottom] = [52, 14, 24, height - 44]
  const lowest = Math.min(...points.filter(p => p.x > 0).map(p => p.x), 1)
  const highest = Math.max(...points.map(p => p.x), limitX || 0, 1)
  const wide = highest / lowest >= 20
  const zero = points.some(p => p.x === 0)
  // On a logarithmic axis what never commits stands at the edge.
  const start = lowest / 1.6
  const xs = wide ? logTicks(start, highest * 1.25) : ticks(highest, 6)
  const log = wide && logarithmic(start, highest * 1.25, left + (zero ? 26 : 0), width - right)
  const x = wide ? v => v > 0 ? log(v) : left + 8 : linear(0, Math.max(...xs), left + (zero ? 14 : 0), width - right)
  const y = linear(yTicks[0], yTicks.at(-1), bottom, top)

  const shapes = []
  for (const tick of yTicks) {
    shapes.push(stroke('rule', left, y(tick), width - right, y(tick)), words(left - 8, y(tick) + 4, yText(tick), { anchor: 'end', of: 'quiet' }))
  }
  let free = -Infinity
  for (const tick of xs) {
    const text = plain(tick)
    shapes.push(stroke('rule', x(tick), bottom, x(tick), bottom + 4))
    if (x(tick) - 4 * text.length > free) {
      shapes.push(words(x(tick), bottom + 18, text, { anchor: 'middle', of: 'quiet' }))
      free = x(tick) + 4 * text.length + 6
    }
  }
  if (wide && zero) shapes.push(words(x(0), bottom + 18, '0', { anchor: 'middle', of: 'quiet' }))
  shapes.push(stroke('base', left, bottom, width - right, bottom), words(left, height - 6, xTitle, { of: 'quiet' }), shape('title', {}, yTitle))
  if (limitX) shapes.push(stroke('limit', x(limitX), top, x(limitX), bottom))
  if (limitY) shapes.push(stroke('limit', left, y(limitY), width - right, y(limitY)))

  const places = points.map(p => ({ ...p, px: x(p.x), py: y(p.y) }))
  const order = [...places].sort((a, b) => a.rank - b.rank)
  for (const p of [...order].reverse()) {
    shapes.push(shape('circle', { class: p.of, cx: p.px.toFixed(1), cy: p.py.toFixed(1), r: p.rank < 2 ? 5.5 : 4 }, shape('title', {}, p.text)))
    if (p.rank === 0) shapes.push(shape('circle', { class: 'ring', cx: p.px.toFixed(1), cy: p.py.toFixed(1), r: 9 }))
  }
  // A name keeps off what was asked for, and is further from the points of others
  // than from its own.
  const around = (p, by) => ({ left: p.px - by, right: p.px + by, top: p.py - by, bottom: p.py + by })
  const taken = []
  if (limitX) taken.push({ left: x(limitX) - 2, right: x(limitX) + 2, top, bottom })
  if (limitY) taken.push({ left, right: width - right, top: y(limitY) - 2, bottom: y(limitY) + 2 })
  const apart = (a, b) => a.right < b.left || a.left > b.right || a.bottom < b.top || a.top > b.bottom
  const within = box => box.left >= left && box.right <= width && box.top >= 0 && box.bottom <= bottom
  const over = (box, of) => taken.filter(other => !apart(box, other)).length + (within(box) ? 0 : 100)
    + places.filter(p => p !== of && !apart(box, around(p, 16))).length
  const leastOver = (boxes, of) => boxes.reduce((least, box) => over(box, of) < over(least, of) ? box : least)
  for (const p of order.filter(p => p.label)) {
    const long = (p.rank === 0 ? 8.2 : 7.4) * p.label.length
    const beside = p.rank === 0 ? 14 : 11
    const box = (l, t) => ({ left: l, right: l + long, top: t, bottom: t + 13 })
    const boxes = [box(p.px + beside, p.py - 7), box(p.px - beside - long, p.py - 7), box(p.px - long / 2, p.py - 26), box(p.px - long / 2, p.py + 12)]
    // What is recommended is always named, over others if need be.
    const found = leastOver(boxes, p)
    if (over(found, p) > 0 && p.rank > 0) continue
    taken.push(found)
    shapes.push(words(found.left, found.top + 11, p.label, { of: p.rank === 0 ? 'strong over' : 'over' }))
  }
  return canvas(width, height, label, shapes)
}

// stretches gives each [bucket, low, high] with where it ends.
const stretches = (line, end) => line.map(([from, low, high], i) => ({ from, to: i + 1 < line.length ? line[i + 1][0] : end, low, high }))

// steps draws a need as an area and levels as lines over it. A bucket in which a
// line held several counts is drawn from the lowest to the highest.
const steps = (width, { label, need, levels, buckets, timeTicks, yTitle }) => {
  const height = Math.max(260, Math.min(400, width * 0.42))
  const [left, right, top, bottom] = [56, 10, 24, height - 30]
  const all = [...need, ...levels.flatMap(level => level.line)]
  const ys = ticks(Math.max(1, ...all.map(([, , high]) => high)), 5)
  const x = linear(0, buckets, left, width - right)
  const y = linear(0, ys.at(-1), bottom, top)
  const f = n => n.toFixed(1)

  const shapes = [words(left, 12, yTitle, { of: 'quiet' })]
  for (const tick of ys) {
    shapes.push(stroke('rule', left, y(tick), width - right, y(tick)), words(left - 8, y(tick) + 4, plain(tick), { anchor: 'end', of: 'quiet' }))
  }
  let area = ''
  for (const s of stretches(need, buckets)) {
    if (s.high > 0) area += `M${f(x(s.from))} ${f(bottom)}V${f(y(s.high))}H${f(x(s.to) + 0.2)}V${f(bottom)}Z`
  }
  shapes.push(shape('path', { class: 'need', d: area }))
  let depth = ''
  for (const s of stretches(need, buckets)) {
    if (s.high > s.low && s.low >= 0) depth += `M${f(x(s.from))} ${f(y(s.low))}V${f(y(s.high))}H${f(x(s.to) + 0.2)}V${f(y(s.low))}Z`
  }
  shapes.push(shape('path', { class: 'spread', d: depth }))
  for (const { line, second } of [...levels].reverse()) {
    let path = ''
    let range = ''
    let drawn = false
    for (const s of stretches(line, buckets)) {
      if (s.high <= 0) { drawn = false; continue }
      path += `${drawn ? 'L' : 'M'}${f(x(s.from))} ${f(y(s.high))}H${f(x(s.to))}`
      drawn = true
      if (s.low < s.high) range += `M${f(x(s.from))} ${f(y(Math.max(0, s.low)))}V${f(y(s.high))}H${f(Math.max(x(s.to), x(s.from) + 1.5))}V${f(y(Math.max(0, s.low)))}Z`
    }
    shapes.push(shape('path', { class: second ? 'range second' : 'range', d: range }), shape('path', { class: second ? 'level second' : 'level', d: path }))
  }
  shapes.push(stroke('base', left, bottom, width - right, bottom))
  let free = -Infinity
  for (const { at, text } of timeTicks) {
    shapes.push(stroke('base', x(at), bottom, x(at), bottom + 4))
    const half = 3.7 * text.length
    if (x(at) - half > free && x(at) + half < width) {
      shapes.push(words(x(at), bottom + 19, text, { anchor: 'middle', of: 'quiet' }))
      free = x(at) + half + 10
    }
  }
  return canvas(width, height, label, shapes)
}
