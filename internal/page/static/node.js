// How the page is built: text is always a text node, so that it can be no markup.

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value)
  }
  for (const child of children.flat(Infinity)) {
    if (known(child) && child !== false) element.append(child)
  }
  return element
}
const node = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children)
const shape = (name, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children)

const part = id => document.getElementById(id)

// put shows content in a part of the page.
const put = (id, ...children) => part(id).replaceChildren(...children.flat(Infinity).filter(c => known(c) && c !== false))

// only shows a section if there is anything in it.
const only = (id, some) => { part(id).hidden = !some }

// name writes a workload: its namespace quietly, its kind where it is not the
// usual one.
const name = ({ namespace, kind, name }) => node('span', { class: 'name', title: `${namespace}/${kind}/${name}` },
  node('span', { class: 'quiet' }, namespace + '/'), name,
  kind !== 'deployment' && node('span', { class: 'quiet' }, ' ' + kind))

const key = ({ namespace, kind, name }) => `${namespace}/${kind}/${name}`
const named = text => { const [namespace, kind, ...rest] = text.split('/'); return { namespace, kind, name: rest.join('/') } }
