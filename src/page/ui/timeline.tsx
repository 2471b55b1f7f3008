// Lanes of threads over time, by process, and the ticks of a program with zones, which scroll under the axis: only
// those in sight are drawn.  Below a lane are the thread's zones, and when the selected function was on its stack;
// dots on it are events.  Dragging selects time; a click on a tick or a zone selects its time; a double click on what is
// selected shows only that.  Labels are a tree for the keyboard, which also walks the zones.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAnswer } from './answer'
import { css, inkOn } from './colours'
import { layOut, Marks, type Row } from './lanes'
import { mainStream, type LanesHead, type MarksHead, type Packed } from './session'
import type { Range, Selected } from './state'
import { amount, duration, grouped } from './units'

export const LANE = 22
export const ZONE = 14
const AXIS = 20
const LABEL = 168
const KINDS = [['user', '--user'], ['kernel', '--kernel'], ['preempted', '--preempted'], ['blocked', '--blocked']] as const
const FONT = '11px system-ui, "Segoe UI", Inter, "DejaVu Sans", sans-serif'

interface Props {
  lanes: Packed<LanesHead>
  marked: Packed<LanesHead> | null // of the selected function alone, in the same slices
  marksOf: ((threads: number[], slices: number, from: number, to: number) => Promise<Packed<MarksHead>>) | null // null: there are none
  filtered: string // filters and metric: marks depend on these as well
  from: number | null // the selected time, in ns
  to: number | null
  isZoomed: boolean
  folds: string[] // processes, by pid, that are not as at first: folded or unfolded
  isBare: boolean // without zones
  dark: boolean
  selected: Selected | null
  onDrag(range: Range | null): void // what is selected if the drag ends here; null: the drag ended
  onTime(range: Range | null): void
  onZone(range: Range, zone: Selected): void
  onFilter(name: 'thread' | 'pid', id: number): void
  onFold(pid: string): void
  onBare(isBare: boolean): void
  onZoom(range: Range | null, isStep: boolean): void
}

function step(span: number, wanted: number): number {
  let size = 1
  while (span / size > wanted) size *= size.toString()[0] === '2' ? 2.5 : 2
  return size
}

export function Timeline({ lanes, marked, marksOf, filtered, from, to, isZoomed, folds, isBare, dark, selected, onDrag, onTime, onZone, onFilter, onFold, onBare, onZoom }: Props) {
  const { head, columns } = lanes
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null), tree = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  const [view, setView] = useState({ top: 0, height: 0 })
  const [drag, setDrag] = useState<Range | null>(null)
  const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null)
  const [cursor, setCursor] = useState('')
  // How deep the zones of each thread are, as far as it is known: rows stay as tall when others are in sight.
  const depths = useRef(new Map<number, number>())
  const [deepened, setDeepened] = useState(0)
  const begin = head.begin, end = head.begin + head.slice * head.slices, span = Math.max(end - begin, 1)
  const hasTicks = columns.tick_start!.length > 0, stream = mainStream(head), streams = columns.tick_stream!
  const { rows, height: tall } = useMemo(() => layOut(head, folds, hasTicks, thread => LANE + (isBare ? 0 : ZONE * (depths.current.get(thread) ?? 0)), LANE),
    [head, folds, hasTicks, isBare, deepened])
  const total = AXIS + tall
  const plot = Math.max(width - LABEL - 12, 1)
  const toX = (ns: number) => LABEL + (ns - begin) / span * plot
  const toTime = (x: number) => Math.round(begin + Math.min(Math.max((x - LABEL) / plot, 0), 1) * span)
  const shownHeight = Math.min(total, Math.max(view.height, AXIS + LANE))
  const inSight = rows.filter(row => row.y + row.height > view.top && row.y < view.top + shownHeight - AXIS)

  useLayoutEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => {
      setWidth(element.clientWidth)
      setView({ top: element.scrollTop, height: element.clientHeight })
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  // Asked in steps, so that scrolling does not ask for each row.
  const first = rows.indexOf(inSight[0]!), last = first + inSight.length
  const threads = rows.slice(Math.max(Math.floor(first / 8) * 8, 0), Math.ceil(last / 8) * 8).flatMap(row => row.lane?.id === undefined ? [] : [row.lane.id]).slice(0, 200)
  const slices = Math.min(Math.max(Math.ceil(plot / 200) * 200, 200), 4000)
  const { value: given, busy } = useAnswer<Packed<MarksHead>>(`${threads}/${slices}/${begin}/${end}/${filtered}/${width > 0}`,
    () => marksOf && width > 0 && threads.length ? marksOf(threads, slices, begin, end) : null)
  const marks = useMemo(() => given && new Marks(given), [given])
  // The zone that keys chose; with other zones in sight, none is.
  const [chosen, setChosen] = useState<{ marks: Marks | null; bar: number }>({ marks: null, bar: -1 })
  const bar = chosen.marks === marks ? chosen.bar : -1, setBar = (to: number) => setChosen({ marks, bar: to })
  useEffect(() => {
    if (!marks) return
    for (const [thread, depth] of marks.depths) if ((depths.current.get(thread) ?? 0) < depth) {
      depths.current.set(thread, depth)
      setDeepened(n => n + 1)
    }
  }, [marks])

  useLayoutEffect(() => {
    const element = canvas.current!, context = element.getContext('2d')!, ratio = window.devicePixelRatio || 1
    element.width = width * ratio
    element.height = shownHeight * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, shownHeight)
    const style = getComputedStyle(element), colour = (name: string) => style.getPropertyValue(name)
    context.font = FONT
    context.textBaseline = 'middle'
    const unit = step(span, plot / 90)
    for (let ns = Math.ceil(begin / unit) * unit; ns < end; ns += unit) {
      context.fillStyle = colour('--line')
      context.fillRect(toX(ns), 0, 1, shownHeight)
      context.fillStyle = colour('--dim')
      const text = duration(ns)
      if (toX(ns) + 4 + context.measureText(text).width <= width) context.fillText(text, toX(ns) + 4, AXIS / 2)
    }
    context.save()
    context.beginPath()
    context.rect(LABEL, AXIS, plot, shownHeight - AXIS)
    context.clip()
    const drawLane = (row: Row, y: number) => {
      const tallest = row.lane ? head.slice : Math.max(row.group!.peak, head.slice)
      context.fillStyle = colour('--lane')
      context.fillRect(LABEL, y + 2, plot, LANE - 5)
      const kinds = KINDS.flatMap(([kind, name]) => {
        const values = columns[`${row.columns}.${kind}`]
        return values && kind !== 'blocked' ? [[values, colour(name)] as const] : []
      })
      for (let k = 0; k < head.slices; k++) {
        let bottom = y + LANE - 3
        for (const [values, fill] of kinds) {
          if (values[k] === 0) continue
          const h = Math.min(values[k]! / tallest * (LANE - 5), bottom - y - 2)
          context.fillStyle = fill
          context.fillRect(LABEL + k * plot / head.slices, bottom - h, Math.max(plot / head.slices, 0.5), h)
          bottom -= h
        }
      }
    }
    const drawMarked = (row: Row, y: number) => {
      const where = marked?.head.lanes.find(other => other.id === row.lane!.id)
      context.fillStyle = colour('--mark')
      for (let k = 0; where && k < head.slices; k++)
        if (KINDS.some(([kind]) => marked!.columns[`${where.number}.${kind}`]?.[k]))
          context.fillRect(LABEL + k * plot / head.slices, y + LANE - 3, Math.max(plot / head.slices, 1), 3)
    }
    const drawZones = (row: Row, y: number) => {
      for (const i of marks!.of(row.lane!.id)) {
        const x = Math.max(toX(marks!.start[i]!), LABEL - 2), right = Math.min(toX(marks!.end[i]!), LABEL + plot + 2), at = y + LANE + marks!.depth[i]! * ZONE
        if (right < LABEL || x > LABEL + plot) continue
        const w = Math.max(right - x - (right - x > 3 ? 0.5 : 0), 0.7), [name, module, rgb] = marks!.zone(i)
        context.globalAlpha = marks!.count[i] === 1 ? 1 : 0.65
        context.fillStyle = css(rgb, dark)
        context.fillRect(x, at, w, ZONE - 1)
        context.globalAlpha = 1
        if (i === bar || selected?.name === name && selected.module === module) {
          context.strokeStyle = colour('--sel')
          context.lineWidth = i === bar ? 2 : 1
          context.strokeRect(x + 0.5, at + 0.5, Math.max(w - 1, 1), ZONE - 2)
        }
        if (w < 24 || marks!.count[i] !== 1) continue
        context.save()
        context.beginPath()
        context.rect(x, at, w - 3, ZONE)
        context.clip()
        context.fillStyle = inkOn(css(rgb, dark))
        context.fillText(name, x + 4, at + ZONE / 2)
        context.restore()
      }
    }
    const drawEvents = (row: Row, y: number) => {
      context.fillStyle = colour('--ink')
      context.strokeStyle = colour('--panel')
      context.lineWidth = 1
      for (const i of marks!.eventsOf(row.lane!.id)) {
        context.beginPath()
        context.arc(toX(marks!.eventTime(i)), y + 6, 2, 0, 2 * Math.PI)
        context.fill()
        context.stroke()
      }
    }
    const drawTicks = (y: number) => {
      const starts = columns.tick_start!, ends = columns.tick_end!
      const lasting = Float64Array.from([...streams.keys()].filter(i => streams[i] === stream), i => ends[i]! - starts[i]!).sort()
      const slow = 2 * (lasting[Math.floor(lasting.length / 2)] ?? 0)
      for (let i = 0; i < starts.length; i++) {
        if (streams[i] !== stream || ends[i]! < begin || starts[i]! > end) continue
        const x = Math.max(toX(starts[i]!), LABEL), w = Math.max(toX(ends[i]!) - x - 0.5, 0.5)
        context.fillStyle = ends[i]! - starts[i]! > slow ? colour('--hot') : colour(i % 2 ? '--tick' : '--tick-even')
        context.fillRect(x, y + 4, w, LANE - 9)
      }
    }
    for (const row of inSight) {
      const y = AXIS + row.y - view.top
      if (row.kind === 'ticks') {
        drawTicks(y)
        continue
      }
      drawLane(row, y)
      if (row.lane) drawMarked(row, y)
      if (row.lane?.id !== undefined && marks) {
        if (!isBare) drawZones(row, y)
        drawEvents(row, y)
      }
    }
    context.restore()
    const range = drag ?? (from !== null && to !== null ? [from, to] : null)
    if (range) {
      const left = Math.max(toX(Math.min(range[0]!, range[1]!)), LABEL), right = Math.min(toX(Math.max(range[0]!, range[1]!)), LABEL + plot)
      if (right < left) return
      const text = duration(Math.abs(range[1]! - range[0]!)), wide = context.measureText(text).width
      context.fillStyle = colour('--range')
      context.fillRect(left, 0, right - left, shownHeight)
      context.fillStyle = colour('--accent')
      context.fillRect(left, 0, 1.5, shownHeight)
      context.fillRect(right - 1.5, 0, 1.5, shownHeight)
      const x = Math.min(Math.max((left + right - wide) / 2, LABEL), LABEL + plot - wide)
      context.fillStyle = colour('--panel')
      context.fillRect(x - 4, 2, wide + 8, AXIS - 4)
      context.fillStyle = colour('--accent')
      context.fillText(text, x, AXIS / 2)
    }
  }, [lanes, marked, marks, rows, width, view, drag, from, to, dark, bar, selected, isBare])

  const place = (event: MouseEvent) => {
    const at = canvas.current!.getBoundingClientRect(), y = event.clientY - at.top - AXIS + view.top
    const row = event.clientY - at.top < AXIS ? undefined : rows.find(r => y >= r.y && y < r.y + r.height)
    return { x: event.clientX - at.left, row, y: row ? y - row.y : 0 }
  }
  const barAt = (row: Row | undefined, x: number, y: number): number =>
    row?.lane?.id === undefined || !marks || isBare || y < LANE ? -1 : marks.find(row.lane.id, Math.floor((y - LANE) / ZONE), begin + (x - LABEL) / plot * span, span / plot)
  const tickAt = (ns: number): number => {
    const starts = columns.tick_start!, ends = columns.tick_end!
    for (let i = 0; i < starts.length; i++) if (streams[i] === stream && starts[i]! < ns && ns <= ends[i]!) return i
    return -1
  }
  // A zone's time is that after it was entered, up to its end, as a tick's.
  const choose = (i: number) => {
    const [name, module] = marks!.zone(i)
    onZone([marks!.start[i]! + 1, marks!.end[i]! + 1], { name, module })
  }
  // A click is not a drag.
  const dragged = ([a, b]: Range): Range | null => Math.abs(toX(a) - toX(b)) > 3 ? [Math.min(a, b), Math.max(a, b) + 1] : null
  const move = (to: Range | null) => {
    setDrag(to)
    onDrag(to && dragged(to))
  }
  const finish = (event: PointerEvent) => {
    if (drag === null) return
    const range = dragged(drag), [a] = drag
    move(null)
    if (range) {
      onTime(range)
      return
    }
    const { row, x, y } = place(event), hit = barAt(row, x, y)
    if (hit >= 0) choose(hit)
    else if (row?.kind === 'ticks') {
      const tick = tickAt(a)
      if (tick >= 0) onTime([columns.tick_start![tick]! + 1, columns.tick_end![tick]! + 1])
    }
  }
  const told = (i: number): string => {
    const [name] = marks!.zone(i), count = marks!.count[i]!, took = duration(marks!.end[i]! - marks!.start[i]!), about = marks!.measured[i] ? '' : ', as samples saw it'
    return count === 1 ? `${name}: ${took}${about}, at ${duration(marks!.start[i]!)}`
      : `${grouped(count)} short zones, most time in ${name}: ${duration(marks!.busy[i]!)} of ${took}${about}, at ${duration(marks!.start[i]!)}`
  }
  const toldLane = (row: Row, ns: number): string => {
    const k = Math.min(Math.max(Math.floor((ns - begin) / head.slice), 0), head.slices - 1), at = begin + k * head.slice
    const parts = KINDS.flatMap(([kind]) => {
      const value = columns[`${row.columns}.${kind}`]?.[k]
      return value ? [`${kind} ${amount(value, head.unit)}`] : []
    })
    const events = row.lane?.id === undefined || !marks ? [] : marks.eventsNear(row.lane.id, ns, 4 * span / plot)
    return `${row.label}, ${duration(at)} to ${duration(at + head.slice)}: ${[...parts, ...events].join(', ') || 'nothing'}`
  }
  const hover = (event: PointerEvent) => {
    if (drag) move([drag[0], toTime(place(event).x)])
    const { row, x, y } = place(event), hit = barAt(row, x, y), ns = begin + (x - LABEL) / plot * span
    const show = (text: string) => setTip({ text, x: event.clientX, y: event.clientY })
    if (drag || !row || x < LABEL || x > LABEL + plot) setTip(null)
    else if (hit >= 0) show(told(hit))
    else if (row.kind === 'ticks') {
      const tick = tickAt(ns)
      if (tick < 0) setTip(null)
      else show(`${head.streams[stream]} ${grouped(columns.tick_number![tick]!)}: ${duration(columns.tick_end![tick]! - columns.tick_start![tick]!)}`)
    } else if (y < LANE) show(toldLane(row, ns))
    else setTip(null)
  }
  // factor: how much of the time in sight is shown; around: what keeps its place.
  const zoom = (factor: number, around = (begin + end) / 2, isStep = true) => {
    const wanted = Math.max(span * factor, 1000), left = Math.max(around - (around - begin) * wanted / span, head.whole_begin), right = Math.min(left + wanted, head.whole_end)
    if (right - left >= head.whole_end - head.whole_begin) onZoom(null, isStep)
    else onZoom([Math.floor(left), Math.ceil(right)], isStep)
  }
  const pan = (part: number, isStep = false) => {
    const by = Math.min(Math.max(span * part, head.whole_begin - begin), head.whole_end - end)
    if (isZoomed && Math.abs(by) >= 1) onZoom([Math.floor(begin + by), Math.floor(begin + by + span)], isStep)
  }
  useEffect(() => {
    const element = box.current!
    const wheel = (event: WheelEvent) => {
      if (event.ctrlKey) {
        const x = event.clientX - canvas.current!.getBoundingClientRect().left
        zoom(Math.exp(Math.min(Math.max(event.deltaY, -100), 100) / 200), toTime(x), false)
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan((event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) / plot)
      } else {
        return
      }
      event.preventDefault()
    }
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  })

  const at = Math.max(rows.findIndex(row => row.key === cursor), 0), current = rows[at]
  const reveal = (row: Row) => {
    const element = box.current!
    if (row.y < element.scrollTop) element.scrollTop = row.y
    else if (row.y + row.height + AXIS > element.scrollTop + element.clientHeight) element.scrollTop = row.y + row.height + AXIS - element.clientHeight
  }
  const goTo = (i: number) => {
    const row = rows[Math.min(Math.max(i, 0), rows.length - 1)]!
    setCursor(row.key)
    setBar(-1)
    reveal(row)
  }
  const key = (event: KeyboardEvent) => {
    if (!current) return
    const moveBar = (to: number | undefined) => { if (to !== undefined && to >= 0) setBar(to) }
    const walks: Record<string, () => void> = marks && current.lane?.id !== undefined && !isBare ? {
      ArrowRight: () => moveBar(bar < 0 ? marks.of(current.lane!.id)[0] : marks.beside(bar, 1)), ArrowLeft: () => moveBar(marks.beside(bar, -1)),
      ArrowDown: () => moveBar(marks.below(bar)), ArrowUp: () => moveBar(marks.above(bar)),
    } : {}
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(at + 1), ArrowUp: () => goTo(at - 1), Home: () => goTo(0), End: () => goTo(rows.length - 1),
      ArrowRight: () => { if (current.isOpen === false) onFold(current.pid) }, ArrowLeft: () => {
        if (current.isOpen) onFold(current.pid)
        else if (current.level === 2) goTo(rows.findIndex(row => row.kind === 'process' && row.pid === current.pid))
      },
      Enter: () => { if (bar >= 0) choose(bar); else filter(current) }, '+': () => zoom(0.5), '-': () => zoom(2),
      Escape: () => setBar(-1),
    }
    const action = event.shiftKey && walks[event.key] || moves[event.key]
    if (!action) return
    action()
    event.preventDefault()
    event.stopPropagation()
  }
  const filter = (row: Row) => {
    if (row.kind === 'process') onFilter('pid', Number(row.pid))
    else if (row.lane?.tid !== undefined) onFilter('thread', row.lane.tid)
  }
  return (
    <div class="timeline" ref={box} tabIndex={-1} role="group" aria-busy={busy} aria-label="Threads over time"
      onScroll={() => setView({ top: box.current!.scrollTop, height: box.current!.clientHeight })}>
      <div class="lane-tools">
        <span class="seg" role="group" aria-label="Time in sight">
          <button aria-label="Show less time" title="less time (+); also Ctrl and the wheel" onClick={() => zoom(0.5)}>+</button>
          <button aria-label="Show more time" title="more time (−)" disabled={!isZoomed} onClick={() => zoom(2)}>−</button>
          <button title="all of the time" disabled={!isZoomed} onClick={() => onZoom(null, true)}>all</button>
        </span>
        {marks && marks.bars > 0 && <button class="plain" aria-pressed={!isBare} title="zones below the lanes" onClick={() => onBare(!isBare)}>zones</button>}
      </div>
      <div style={{ height: `${total}px`, position: 'relative' }}>
        <canvas ref={canvas} role="img" aria-label={`Timeline of ${head.lanes.length} threads. Drag to select time.`}
          style={{ width: `${width}px`, height: `${shownHeight}px` }}
          onPointerDown={event => {
            if (event.button !== 0) return
            canvas.current!.setPointerCapture(event.pointerId)
            move([toTime(place(event).x), toTime(place(event).x)])
          }}
          onPointerMove={hover} onPointerLeave={() => setTip(null)} onPointerUp={finish} onPointerCancel={() => move(null)}
          onDblClick={event => {
            const ns = toTime(place(event).x)
            if (from !== null && to !== null && from <= ns && ns <= to) onZoom([from, to], true)
            else if (from !== null) onTime(null)
            else onZoom(null, true)
          }} />
        <div class="lane-labels" ref={tree} role="tree" tabIndex={0} style={{ height: `${tall}px` }} onKeyDown={key} aria-describedby="lanes-told"
          aria-label="Threads. Arrows move, fold and unfold; Enter keeps only this one; Shift and arrows walk through zones." aria-activedescendant={current && inSight.includes(current) ? `lane-${current.key}` : undefined}>
          {inSight.map(row => <div key={row.key} id={`lane-${row.key}`} role="treeitem" class={`lane-label${row === current ? ' cursor' : ''}`} aria-level={row.level} aria-setsize={row.of} aria-posinset={row.place} aria-selected={row === current}
            {...(row.isOpen === undefined ? {} : { 'aria-expanded': row.isOpen })}
            style={{ top: `${row.y}px`, height: `${row.height}px`, paddingLeft: `${row.level === 2 ? 24 : 10}px` }} title={row.title}
            onClick={() => { setCursor(row.key); if (row.isOpen === undefined) filter(row); else onFold(row.pid) }}>
            {row.isOpen !== undefined && <span class="fold-mark" aria-hidden="true">{row.isOpen ? '▾' : '▸'}</span>}
            <span class="lane-name">{row.label}</span>{row.detail && <em>{row.detail}</em>}
          </div>)}
        </div>
      </div>
      <p id="lanes-told" class="unseen" aria-live="polite">{bar >= 0 && marks ? told(bar) : ''}</p>
      {tip && <div class="tip" style={{ left: `${Math.min(tip.x + 14, window.innerWidth - 460)}px`, top: `${tip.y + 18}px` }}>{tip.text}</div>}
    </div>
  )
}
