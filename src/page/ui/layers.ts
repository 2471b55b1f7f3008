// Where the boxes of a graph without cycles stand: in layers, each call from a layer to a lower one
// (K. Sugiyama, S. Tagawa and M. Toda, "Methods for Visual Understanding of Hierarchical System
// Structures", 1981).  Calls that pass layers get a place in each, so that they go around boxes.
// Layers are ordered by the mean place of the neighbours above and below, some times over.  Then each
// box moves as near to its neighbours as the order lets it: the least sum of squares, by pooling
// neighbours that would overlap (M. Ayer et al., 1955).

export interface Placed { x: number; y: number }
export interface Layout { boxes: Placed[]; routes: Placed[][]; width: number; height: number }

export interface Edge { from: number; to: number; weight: number }

const SWEEPS = 12
const ALONE = 5 // boxes without a call in a layer
const GAP_X = 22, GAP_Y = 34, ROUTE_WIDTH = 10, MARGIN = 16

interface Item { box: number; width: number; height: number; above: Link[]; below: Link[]; layer: number; x: number }
interface Link { item: Item; weight: number }

// The edges without those that would close a circle, which there are only if some were left out.
function acyclic(count: number, edges: Edge[]): Edge[] {
  const below: Edge[][] = Array.from({ length: count }, () => [])
  for (const edge of edges) below[edge.from]!.push(edge)
  const state = new Uint8Array(count), kept: Edge[] = []
  const visit = (box: number) => {
    state[box] = 1
    for (const edge of below[box]!) {
      if (state[edge.to] === 1) continue
      kept.push(edge)
      if (state[edge.to] === 0) visit(edge.to)
    }
    state[box] = 2
  }
  for (let box = 0; box < count; box++) if (state[box] === 0) visit(box)
  return kept
}

// Each box one layer below the lowest of its callers; without any, one above its callees.  Boxes without a
// call stand below all others.
function layersOf(count: number, edges: Edge[]): Uint32Array {
  const waiting = new Uint32Array(count), layer = new Uint32Array(count)
  for (const edge of edges) waiting[edge.to]!++
  const ready = [...waiting.keys()].filter(box => waiting[box] === 0)
  for (let box = ready.pop(); box !== undefined; box = ready.pop())
    for (const edge of edges) {
      if (edge.from !== box) continue
      layer[edge.to] = Math.max(layer[edge.to]!, layer[box]! + 1)
      if (--waiting[edge.to]! === 0) ready.push(edge.to)
    }
  const called = new Set(edges.map(edge => edge.to)), calls = new Set(edges.map(edge => edge.from))
  for (const box of calls)
    if (!called.has(box)) layer[box] = Math.min(...edges.filter(edge => edge.from === box).map(edge => layer[edge.to]!)) - 1
  let alone = 0
  const last = calls.size ? Math.max(...layer) + 1 : 0
  for (let box = 0; box < count; box++) if (!called.has(box) && !calls.has(box)) layer[box] = last + Math.floor(alone++ / ALONE)
  return layer
}

const mean = (links: Link[], of: (item: Item) => number) =>
  links.reduce((sum, link) => sum + link.weight * of(link.item), 0) / links.reduce((sum, link) => sum + link.weight, 0)

function order(layers: Item[][]): void {
  const place = new Map<Item, number>()
  const number = (layer: Item[]) => layer.forEach((item, i) => place.set(item, (i + 0.5) / layer.length))
  layers.forEach(number)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0
    for (const layer of down ? layers : [...layers].reverse()) {
      const wanted = new Map(layer.map(item => {
        const links = down ? item.above : item.below
        return [item, links.length ? mean(links, other => place.get(other)!) : place.get(item)!]
      }))
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!)
      number(layer)
    }
  }
}

// Moves the items of a layer as near as can be to where they are wanted, in their order.
function settle(layer: Item[], wanted: number[]): void {
  const offset: number[] = []
  layer.forEach((item, i) => offset.push(i === 0 ? 0 : offset[i - 1]! + (layer[i - 1]!.width + item.width) / 2 + GAP_X))
  const pools: { sum: number; count: number }[] = []
  wanted.forEach((x, i) => {
    let pool = { sum: x - offset[i]!, count: 1 }
    for (let last = pools[pools.length - 1]; last && last.sum / last.count > pool.sum / pool.count; last = pools[pools.length - 1]) {
      pools.pop()
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count }
    }
    pools.push(pool)
  })
  let i = 0
  for (const pool of pools)
    for (let k = 0; k < pool.count; k++, i++) layer[i]!.x = pool.sum / pool.count + offset[i]!
}

function place(layers: Item[][]): void {
  for (const layer of layers) settle(layer, layer.map(() => 0))
  // The last one is downwards, so that chains of calls are straight.
  for (let sweep = 0; sweep <= SWEEPS; sweep++) {
    const down = sweep % 2 === 0
    for (const layer of down ? layers : [...layers].reverse())
      settle(layer, layer.map(item => {
        const links = down ? item.above : item.below
        return links.length ? mean(links, other => other.x) : item.x
      }))
  }
  // Layers of boxes without a call begin where the others do.
  const linked = layers.flat().filter(item => item.above.length + item.below.length > 0)
  const left = Math.min(...linked.map(item => item.x - item.width / 2))
  for (const layer of layers)
    if (linked.length && !layer.some(item => linked.includes(item))) {
      const by = left - (layer[0]!.x - layer[0]!.width / 2)
      for (const item of layer) item.x += by
    }
}

// sizes: of the boxes.  An edge's route goes from the bottom of a box to the top of another.
export function layOut(sizes: { width: number; height: number }[], given: Edge[]): Layout {
  const edges = acyclic(sizes.length, given), layer = layersOf(sizes.length, edges)
  const items: Item[] = sizes.map((size, box) => ({ box, ...size, above: [], below: [], layer: layer[box]!, x: 0 }))
  const layers: Item[][] = []
  const add = (item: Item) => (layers[item.layer] ??= []).push(item)
  items.forEach(add)
  const link = (above: Item, below: Item, weight: number) => {
    above.below.push({ item: below, weight })
    below.above.push({ item: above, weight })
  }
  const paths = new Map<Edge, Item[]>()
  for (const edge of edges) {
    const path = [items[edge.from]!]
    for (let at = layer[edge.from]! + 1; at < layer[edge.to]!; at++) {
      const turn: Item = { box: -1, width: ROUTE_WIDTH, height: 0, above: [], below: [], layer: at, x: 0 }
      add(turn)
      path.push(turn)
    }
    path.push(items[edge.to]!)
    // Long ones are straight first.
    for (let i = 1; i < path.length; i++) link(path[i - 1]!, path[i]!, 1 + Math.abs(edge.weight) + (path.length > 2 ? 2 : 0))
    paths.set(edge, path)
  }
  order(layers)
  place(layers)
  const left = Math.min(...layers.flat().map(item => item.x - item.width / 2), 0), tops: number[] = []
  let y = MARGIN
  for (const of of layers) {
    tops.push(y)
    y += Math.max(...of.map(item => item.height)) + GAP_Y
  }
  const x = (item: Item) => item.x - left + MARGIN
  return {
    boxes: items.map(item => ({ x: x(item) - item.width / 2, y: tops[item.layer]! })),
    routes: given.map(edge => (paths.get(edge) ?? []).map((item, i, path) => ({
      x: x(item), y: tops[item.layer]! + (i === 0 ? item.height : i === path.length - 1 ? 0 : Math.max(...layers[item.layer]!.map(other => other.height)) / 2),
    }))),
    width: Math.max(...layers.flat().map(item => x(item) + item.width / 2), 0) + MARGIN,
    height: y - GAP_Y + MARGIN,
  }
}
