// Bars that lie, each below its name, so that any name has room at any width.

// A bar is {label, parts: [{value, of, text}]}: parts below each other, on one
// scale. A part without a value is only its text.
const bars = (width, label, all) => {
  const highest = Math.max(1, ...all.flatMap(bar => bar.parts.map(part => part.value || 0)))
  const room = Math.max(70, ...all.flatMap(bar => bar.parts.map(part => 7.6 * part.text.length + 12)))
  const place = linear(0, highest, 0, Math.max(40, width - room))
  const shapes = []
  let y = 0
  for (const bar of all) {
    shapes.push(shape('text', { x: 0, y: y + 13, class: bar.strong ? 'strong' : '' }, shape('title', {}, bar.label), fit(bar.label, width)))
    y += 20
    for (const part of bar.parts) {
      const length = part.value ? Math.max(2, place(part.value)) : 0
      if (length) shapes.push(shape('rect', { class: part.of, x: 0, y: y + 1, width: length.toFixed(1), height: 13, rx: 2 }))
      shapes.push(words((length ? length + 8 : 0).toFixed(1), y + 12, part.text, { of: 'quiet' }))
      y += 17
    }
    y += 11
  }
  return canvas(width, Math.max(1, y - 8), label, shapes)
}

// shareBar is a coverage as a bar and a number, for a row of a table.
const shareBar = share => known(share)
  ? node('div', { class: 'share' }, node('span', {}, percent(share)),
    shape('svg', { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      shape('rect', { class: share < 1 ? 'lack' : 'good', width: 100, height: 8 }),
      share < 1 && shape('rect', { class: 'good', width: (100 * share).toFixed(2), height: 8 })))
  : node('span', { class: 'quiet' }, 'not scored')
