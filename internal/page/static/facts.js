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
// onPaper reports whether the page is printed. The browser counts the pages after
// beforeprint, and changes the media later.
let paper = false
const onPaper = () => paper || printing.matches
const turned = draw => {
  addEventListener('beforeprint', () => { paper = true; draw() })
  addEventListener('afterprint', () => { paper = false; draw() })
  printing.addEventListener('change', draw)
}
// narrow is a window in which each row of a table is a card.
const narrow = matchMedia('screen and (max-width: 40rem)')
