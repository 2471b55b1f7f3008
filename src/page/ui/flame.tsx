// The flame graph: boxes of the call tree on a canvas, the root on top.  Where they are follows from
// analysis/flame.c; here they are scaled to the box that is zoomed into, and only those in sight are
// drawn.  A picture has a list of what is under the keyboard's cursor for those who cannot see it.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { css, cssOfChange, inkOn, mix, over } from './colours'
import type { FlameHead, Packed } from './session'
import { useSize } from './size'
import { isIt, type Selected } from './state'
import { amount, percent } from './units'

const ROW = 20
// Of a deep graph, when its middle is folded: so many levels at the top, and as many of the deepest.
const ENDS = 40
const NONE = 0xffffffff

// By box; mark: 1 if chance does not explain the change, 0 if it may, NONE if that is not known.
interface Change { colour: Uint32Array; mark: Uint32Array; old: Float64Array; now: Float64Array; ownOld: Float64Array; ownNow: Float64Array }

export class Boxes {
  readonly depth: Uint32Array
  readonly name: Uint32Array
  readonly jump: Uint32Array
  readonly start: Float64Array
  readonly width: Float64Array
  readonly own: Float64Array
  readonly change: Change | null // of a difference
  readonly parent: Int32Array
  readonly end: Uint32Array // one past the last box below it
  readonly count: number
  readonly levels: number

  constructor(readonly head: FlameHead, columns: Packed<FlameHead>['columns']) {
    this.depth = columns.depth as Uint32Array
    this.name = columns.name as Uint32Array
    this.jump = columns.jump as Uint32Array
    this.start = columns.start as Float64Array
    this.width = columns.width as Float64Array
    this.own = columns.own as Float64Array
    this.change = columns.colour ? {
      colour: columns.colour as Uint32Array, mark: columns.mark as Uint32Array, old: columns.old as Float64Array, now: columns.now as Float64Array,
      ownOld: columns.own_old as Float64Array, ownNow: columns.own_now as Float64Array,
    } : null
    this.count = this.depth.length
    this.levels = head.depth + 1
    this.parent = new Int32Array(this.count)
    this.end = new Uint32Array(this.count)
    const path: number[] = []
    for (let i = 0; i < this.count; i++) {
      while (path.length > this.depth[i]!) this.end[path.pop()!] = i
      this.parent[i] = path.length ? path[path.length - 1]! : -1
      path.push(i)
    }
    for (const box of path) this.end[box] = this.count
  }

  label(box: number): string {
    return this.name[box] === NONE ? 'all' : this.head.names[this.name[box]!]![0]
  }

  module(box: number): string {
    return this.name[box] === NONE ? '' : this.head.names[this.name[box]!]![1]
  }

  firstChild(box: number): number {
    return box + 1 < this.end[box]! ? box + 1 : -1
  }

  nextSibling(box: number): number {
    const next = this.end[box]!
    return next < this.count && this.parent[next] === this.parent[box] ? next : -1
  }

  previousSibling(box: number): number {
    let found = -1
    for (let b = this.parent[box]! < 0 ? box : this.firstChild(this.parent[box]!); b !== box; b = this.nextSibling(b)) found = b
    return found
  }

  path(box: number): number[] {
    const path: number[] = []
    for (let b = box; b > 0; b = this.parent[b]!) path.unshift(b)
    return path
  }

  // The box at the end of names from the root; as far as there is one.
  find(names: string[]): number {
    let box = 0
    for (const name of names) {
      let child = this.firstChild(box)
      while (child >= 0 && this.label(child) !== name) child = this.nextSibling(child)
      if (child < 0) return box
      box = child
    }
    return box
  }
}

// Which row of the picture a level is in; the levels from `first` to before `last` are one row.
class Rows {
  readonly count: number

  constructor(readonly levels: number, readonly first = levels, readonly last = levels) {
    this.count = levels - this.hidden + (this.hidden ? 1 : 0)
  }

  get hidden(): number { return this.last - this.first }
  isHidden(level: number): boolean { return level >= this.first && level < this.last }
  of(level: number): number { return level < this.first ? level : level < this.last ? this.first : level - this.hidden + 1 }
  // The first level of a row.
  level(row: number): number { return row <= this.first ? row : row - 1 + this.hidden }
}

interface Props {
  boxes: Boxes
  zoom: string[]
  selected: Selected | null
  search: RegExp | null
  dark: boolean
  busy: boolean
  onZoom(path: string[]): void
  onSelect(selected: Selected): void
  onCopy(stack: string): void
  onMore(): void // boxes that were left out are wanted
}

// What chance may explain is half as strong.
const paler = (rgb: number) => mix(rgb, 0xf0efeb, 128)

export const changeOf = (old: number, now: number): string =>
  old === 0 ? now === 0 ? '' : 'new' : now === 0 ? 'gone' : `${now > old ? '+' : ''}${percent(now - old, Math.abs(old))}`

// What is narrower, in pixels, is not seen, nor is what is below it.
const SEEN = 0.33

function drawn(boxes: Boxes, root: number, width: number, first: number, last: number, each: (box: number, x: number, w: number) => void): void {
  const scale = width / (boxes.width[root]! || 1), base = boxes.depth[root]!
  for (const box of [0, ...boxes.path(root)])
    if (boxes.depth[box]! < base && boxes.depth[box]! >= first && boxes.depth[box]! <= last) each(box, 0, width)
  for (let box = root; box < boxes.end[root]!;) {
    const w = boxes.width[box]! * scale
    if (w < SEEN || boxes.depth[box]! > last) {
      box = boxes.end[box]!
      continue
    }
    if (boxes.depth[box]! >= first) each(box, (boxes.start[box]! - boxes.start[root]!) * scale, w)
    box++
  }
}

export function Flame({ boxes, zoom, selected, search, dark, busy, onZoom, onSelect, onMore, onCopy }: Props) {
  const scroller = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(scroller)
  const [top, setTop] = useState(0)
  const [tip, setTip] = useState<{ box: number; x: number; y: number } | null>(null)
  const [isFolded, setFolded] = useState(false)
  const rows = useMemo(() => isFolded && boxes.levels > 2 * ENDS + 1 ? new Rows(boxes.levels, ENDS, boxes.levels - ENDS) : new Rows(boxes.levels), [boxes, isFolded])
  const root = useMemo(() => boxes.find(zoom), [boxes, zoom])
  const [cursor, setCursor] = useState(root)
  const fills = useMemo(() => boxes.head.names.map(([, , colour]) => css(colour, dark)), [boxes, dark])
  const found = useMemo(() => search && boxes.head.names.map(([name]) => search.test(name)), [boxes, search])

  // The cursor goes where one zooms; when there are other boxes, it stays on the one of the same path.
  const before = useRef({ boxes, zoomed: root })
  useEffect(() => {
    const last = before.current
    if (last.boxes === boxes && last.zoomed === root) return
    setCursor(at => last.boxes === boxes || at === last.zoomed || at >= last.boxes.count ? root : boxes.find(last.boxes.path(at).map(box => last.boxes.label(box))))
    before.current = { boxes, zoomed: root }
  }, [boxes, root])
  useEffect(() => {
    const isHere = boxes.path(root).length === zoom.length
    const seen = boxes.head.least * size.width / (boxes.width[root]! || 1)
    if (!busy && boxes.head.left_out > 0 && size.width > 0 && (seen >= SEEN || !isHere)) onMore()
  }, [boxes, root, zoom, size.width, busy])
  useLayoutEffect(() => {
    const element = canvas.current!, context = element.getContext('2d')!, ratio = window.devicePixelRatio || 1
    const { width, height } = size
    element.width = width * ratio
    element.height = height * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    context.font = '12px system-ui, "Segoe UI", Inter, "DejaVu Sans", sans-serif'
    context.textBaseline = 'middle'
    const style = getComputedStyle(element), mark = style.getPropertyValue('--mark').trim(), line = style.getPropertyValue('--sel')
    const first = Math.floor(top / ROW), last = Math.ceil((top + height) / ROW)
    if (rows.hidden && rows.first >= first && rows.first <= last) {
      context.fillStyle = line
      context.fillText(`… ${rows.hidden.toLocaleString('en')} levels …`, 8, rows.first * ROW - top + ROW / 2)
    }
    drawn(boxes, root, width, rows.level(first), rows.level(last), (box, x, w) => {
      if (rows.isHidden(boxes.depth[box]!)) return
      const y = rows.of(boxes.depth[box]!) * ROW - top, name = boxes.name[box]!
      const isHit = found !== null && name !== NONE && found[name]
      const strength = boxes.depth[box]! < boxes.depth[root]! ? 0.55 : found !== null && !isHit && name !== NONE ? 0.35 : 1
      const plain = isHit ? mark : boxes.change ? cssOfChange(boxes.change.mark[box] === 0 ? paler(boxes.change.colour[box]!) : boxes.change.colour[box]!, dark) : name === NONE ? css(boxes.head.colour, dark) : fills[name]!
      const fill = strength === 1 ? plain : over(plain, strength, dark)
      context.fillStyle = fill
      context.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), SEEN), ROW - 1)
      // Recursion goes on above: hatched at the right end.
      if (boxes.jump[box] !== NONE && w > 6) {
        context.fillStyle = 'rgba(0,0,0,.28)'
        for (let k = 0; k < Math.min(w / 2, 12); k += 4) context.fillRect(x + w - 3 - k, y, 1.5, ROW - 1)
      }
      const isSelected = name !== NONE && isIt({ name: boxes.label(box), module: boxes.module(box) }, selected)
      if (isSelected || box === cursor) {
        context.strokeStyle = line
        context.lineWidth = box === cursor ? 2 : 1
        context.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3)
      }
      if (w < 26) return
      context.fillStyle = inkOn(fill)
      context.save()
      context.beginPath()
      context.rect(x, y, w - 5, ROW)
      context.clip()
      context.fillText(boxes.label(box), x + 5, y + ROW / 2)
      if (w > 180) {
        const used = context.measureText(boxes.label(box)).width
        context.fillText(boxes.change ? changeOf(boxes.change.old[box]!, boxes.change.now[box]!) : percent(boxes.width[box]!, boxes.width[0]!), x + 13 + used, y + ROW / 2)
      }
      context.restore()
    })
  }, [boxes, rows, root, size, top, cursor, selected, found, fills, dark])

  const at = (event: MouseEvent): number => {
    const place = canvas.current!.getBoundingClientRect(), x = event.clientX - place.left
    const depth = rows.level(Math.floor((event.clientY - place.top + top) / ROW))
    let hit = -1
    if (rows.isHidden(depth)) return hit
    drawn(boxes, root, size.width, depth, depth, (box, left, w) => {
      if (x >= left && x < left + Math.max(w, 1)) hit = box
    })
    return hit
  }
  const choose = (box: number) => {
    setCursor(box)
    if (boxes.name[box] !== NONE) onSelect({ name: boxes.label(box), module: boxes.module(box) })
    if (rows.isHidden(boxes.depth[box]!)) setFolded(false)
    const y = rows.of(boxes.depth[box]!) * ROW, element = scroller.current!
    if (y < element.scrollTop) element.scrollTop = y
    else if (y + ROW > element.scrollTop + element.clientHeight) element.scrollTop = y + ROW - element.clientHeight
  }
  const zoomTo = (box: number) => onZoom(boxes.path(box).map(b => boxes.label(b)))
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return
    const moves: Record<string, () => number> = {
      ArrowDown: () => boxes.firstChild(cursor), ArrowUp: () => boxes.parent[cursor]!,
      ArrowRight: () => boxes.nextSibling(cursor), ArrowLeft: () => boxes.previousSibling(cursor), Home: () => root,
    }
    const move = moves[event.key]
    if (move) {
      const to = move()
      if (to >= 0) choose(to)
    } else if (event.key === 'Enter') {
      zoomTo(cursor)
    } else if (event.key === 'Escape' && root > 0) {
      zoomTo(boxes.parent[root]!)
    } else if (event.key === 'y' && cursor > 0) {
      onCopy(boxes.path(cursor).map(box => boxes.label(box)).join('\n') + '\n')
    } else if (event.key === 'j' && boxes.jump[cursor] !== NONE) {
      choose(boxes.jump[cursor]!)
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
  const told = (box: number) => {
    const { head, change } = boxes, total = boxes.width[0]!
    if (change) {
      const old = change.old[box]!, now = change.now[box]!, size = Math.max(Math.abs(old), Math.abs(now))
      const figure = (value: number) => amount(value, head.unit, size), signed = (value: number) => `${value > 0 ? '+' : ''}${figure(value)}`
      return `${boxes.label(box)}${boxes.module(box) ? `, ${boxes.module(box)}` : ''}: in or under ${figure(old)} → ${figure(now)}, ${signed(now - old)}, ${changeOf(old, now)}; ` +
        `in only ${figure(change.ownOld[box]!)} → ${figure(change.ownNow[box]!)}` +
        (change.mark[box] === NONE || now === old ? '' : `; by chance? ${change.mark[box] ? 'no' : 'maybe'}`)
    }
    return `${boxes.label(box)}${boxes.module(box) ? `, ${boxes.module(box)}` : ''}: in or under ${amount(boxes.width[box]!, head.unit)}, ` +
      `${percent(boxes.width[box]!, total)}; in only ${amount(boxes.own[box]!, head.unit)}, ${percent(boxes.own[box]!, total)}` +
      (boxes.jump[box] === NONE ? '' : `; recursion goes on in ${boxes.label(boxes.jump[box]!)} above (j)`)
  }
  return (
    <div class="flame" ref={scroller} onScroll={() => setTop(scroller.current!.scrollTop)} tabIndex={0} role="application"
      aria-label="Flame graph. Arrows move between callers, callees and neighbours; Enter zooms, Escape goes back." aria-describedby="flame-told" onKeyDown={onKey}>
      {boxes.levels > 3 * ENDS && <div class="fold">
        <button aria-pressed={isFolded} onClick={() => { setFolded(!isFolded); scroller.current!.scrollTop = 0 }}>{isFolded ? 'show all levels' : 'fold the middle'}</button>
      </div>}
      <div class="flame-pane" style={{ height: `${rows.count * ROW}px` }}>
        <canvas ref={canvas} style={{ width: `${size.width}px`, height: `${size.height}px` }}
          onClick={event => { const box = at(event); if (box >= 0) choose(box) }}
          onDblClick={event => { const box = at(event); if (box >= 0) zoomTo(box) }}
          onMouseMove={event => { const box = at(event); setTip(box < 0 ? null : { box, x: event.clientX, y: event.clientY }) }}
          onMouseLeave={() => setTip(null)} />
      </div>
      <p id="flame-told" class="unseen" aria-live="polite">{told(cursor < boxes.count ? cursor : 0)}</p>
      {tip && tip.box < boxes.count && <div class="tip" style={{ left: `${Math.min(tip.x + 14, window.innerWidth - 460)}px`, top: `${Math.min(tip.y + 18, window.innerHeight - 70)}px` }}>{told(tip.box)}</div>}
    </div>
  )
}
