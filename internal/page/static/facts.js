// The figures below the headline.

const facts = (id, all) => put(id, all.filter(Boolean).map(({ label, value, note, bad }) =>
  node('div', { class: bad ? 'fact bad' : 'fact' },
    node('dt', {}, label), node('dd', { class: 'figure' }, value), note && node('dd', { class: 'note' }, note))))

// data is the document that the page shows.
const data = JSON.parse(part('document').textContent)

// redraw draws now, and anew where the width of a part of the page changes: a
// drawing that is only made smaller has letters that nobody can read.
const redraw = (element, draw) => {
  let width = 0
  const look = () => {
    const now = Math.floor(element.clientWidth)
    if (now > 0 && now !== width) element.replaceChildren(draw(width = now))
  }
  look()
  new ResizeObserver(look).observe(element)
}

const printing = matchMedia('print')
