// Lanes of threads over time, and the ticks of a program with zones, which scroll under the axis: only
// those in sight are drawn.  Below a lane is when the selected function was on the thread's stack.
// Dragging selects time, a click on a tick selects it, a double click takes the selection back.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { mainStream, type LanesHead, type Packed } from './session'
import type { Range } from './state'
import { duration } from './units'

export const LANE = 22
const AXIS = 20
const LABEL = 160
const KINDS = [['user', '--user'], ['kernel', '--kernel'], ['preempted', '--preempted'], ['blocked', '--blocked']] as const

interface Props {
  lanes: Packed<LanesHead>
  marked: Packed<LanesHead> | null // of the selected function alone, in the same slices
  from: number | null // the selected time, in ns
  to: number | null
  dark: boolean
  onDrag(range: Range | null): void // what is selected if the drag ends here; null: the drag ended
  onTime(range: Range | null): void
  onThread(tid: number): void
}

function step(span: number, wanted: number): number {
  let size = 1
  while (span / size > wanted) size *= size.toString()[0] === '2' ? 2.5 : 2
  return size
}

export function Timeline({ lanes, marked, from, to, dark, onDrag, onTime, onThread }: Props) {
  const { head, columns } = lanes
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [view, setView] = useState({ top: 0, height: 0 })
  const [drag, setDrag] = useState<Range | null>(null)
  const begin = head.begin, end = head.begin + head.slice * head.slices, span = Math.max(end - begin, 1)
  const hasTicks = columns.tick_start!.length > 0, stream = mainStream(head), streams = columns.tick_stream!
  const rows = head.lanes.length + (hasTicks ? 1 : 0)
  const plot = Math.max(width - LABEL - 12, 1)
  const toX = (ns: number) => LABEL + (ns - begin) / span * plot
  const toTime = (x: number) => Math.round(begin + Math.min(Math.max((x - LABEL) / plot, 0), 1) * span)

  useLayoutEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => {
      setWidth(element.clientWidth)
      setView({ top: element.scrollTop, height: element.clientHeight })
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  useLayoutEffect(() => {
    const element = canvas.current!, context = element.getContext('2d')!, ratio = window.devicePixelRatio || 1
    const height = Math.min(AXIS + rows * LANE, Math.max(view.height, AXIS + LANE))
    const first = Math.floor(view.top / LANE), last = Math.ceil((view.top + height - AXIS) / LANE)
    element.width = width * ratio
    element.height = height * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    const style = getComputedStyle(element), colour = (name: string) => style.getPropertyValue(name)
    context.font = '11px system-ui, "Segoe UI", Inter, "DejaVu Sans", sans-serif'
    context.textBaseline = 'middle'
    const unit = step(span, plot / 90)
    for (let ns = Math.ceil(begin / unit) * unit; ns < end; ns += unit) {
      context.fillStyle = colour('--line')
      context.fillRect(toX(ns), 0, 1, height)
      context.fillStyle = colour('--dim')
      const text = duration(ns)
      if (toX(ns) + 4 + context.measureText(text).width <= width) context.fillText(text, toX(ns) + 4, AXIS / 2)
    }
    context.save()
    context.beginPath()
    context.rect(0, AXIS, width, height - AXIS)
    context.clip()
    head.lanes.slice(first, last).forEach((lane, at) => {
      const y = AXIS + (first + at) * LANE - view.top
      context.fillStyle = colour('--lane')
      context.fillRect(LABEL, y + 2, plot, LANE - 5)
      for (let k = 0; k < head.slices; k++) {
        let bottom = y + LANE - 3
        for (const [kind, name] of KINDS) {
          const values = columns[`${lane.number}.${kind}`]
          if (values === undefined || values[k] === 0 || kind === 'blocked') continue
          const h = Math.min(values[k]! / head.slice, 1) * (LANE - 5)
          context.fillStyle = colour(name)
          context.fillRect(LABEL + k * plot / head.slices, bottom - h, Math.max(plot / head.slices, 0.5), h)
          bottom -= h
        }
      }
      const where = marked?.head.lanes.find(other => other.tid === lane.tid && other.pid === lane.pid && other.thread === lane.thread)
      context.fillStyle = colour('--mark')
      for (let k = 0; where && k < head.slices; k++)
        if (KINDS.some(([kind]) => marked!.columns[`${where.number}.${kind}`]?.[k]))
          context.fillRect(LABEL + k * plot / head.slices, y + LANE - 3, Math.max(plot / head.slices, 1), 3)
      context.fillStyle = colour('--ink')
      context.save()
      context.beginPath()
      context.rect(0, y, LABEL - 8, LANE)
      context.clip()
      const label = lane.thread ?? 'all'
      context.fillText(label, 14, y + LANE / 2)
      if (lane.tid !== undefined) {
        context.fillStyle = colour('--dim')
        context.fillText(`${lane.tid}`, 20 + context.measureText(label).width, y + LANE / 2)
      }
      context.restore()
    })
    if (hasTicks && last > head.lanes.length) {
      const y = AXIS + head.lanes.length * LANE - view.top, starts = columns.tick_start!, ends = columns.tick_end!
      const lasting = Float64Array.from([...streams.keys()].filter(i => streams[i] === stream), i => ends[i]! - starts[i]!).sort()
      const slow = 2 * (lasting[Math.floor(lasting.length / 2)] ?? 0)
      context.fillStyle = colour('--dim')
      context.fillText(head.streams[stream] ?? 'ticks', 14, y + LANE / 2)
      for (let i = 0; i < starts.length; i++) {
        if (streams[i] !== stream) continue
        const x = Math.max(toX(starts[i]!), LABEL), w = Math.max(toX(ends[i]!) - x - 0.5, 0.5)
        context.fillStyle = ends[i]! - starts[i]! > slow ? colour('--hot') : colour(i % 2 ? '--tick' : '--tick-even')
        context.fillRect(x, y + 4, w, LANE - 9)
      }
    }
    context.restore()
    const range = drag ?? (from !== null && to !== null ? [from, to] : null)
    if (range) {
      const left = toX(Math.min(range[0]!, range[1]!)), right = toX(Math.max(range[0]!, range[1]!))
      context.fillStyle = colour('--range')
      context.fillRect(left, 0, right - left, height)
      context.fillStyle = colour('--accent')
      context.fillRect(left, 0, 1.5, height)
      context.fillRect(right - 1.5, 0, 1.5, height)
      context.fillText(duration(Math.abs(range[1]! - range[0]!)), (left + right) / 2 - 18, AXIS + 6)
    }
  }, [lanes, marked, width, view, drag, from, to, dark])

  const x = (event: PointerEvent | MouseEvent) => event.clientX - canvas.current!.getBoundingClientRect().left
  const row = (event: MouseEvent) => Math.floor((event.clientY - canvas.current!.getBoundingClientRect().top - AXIS + view.top) / LANE)
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
    const lane = row(event)
    if (x(event) < LABEL) {
      const tid = head.lanes[lane]?.tid
      if (tid !== undefined) onThread(tid)
    } else if (hasTicks && lane === head.lanes.length) {
      const starts = columns.tick_start!, ends = columns.tick_end!
      for (let i = 0; i < starts.length; i++)
        if (streams[i] === stream && starts[i]! < a && a <= ends[i]!) onTime([starts[i]! + 1, ends[i]! + 1])
    }
  }
  return (
    <div class="timeline" ref={box} tabIndex={0} role="group" aria-label="Threads over time"
      onScroll={() => setView({ top: box.current!.scrollTop, height: box.current!.clientHeight })}>
      <div style={{ height: `${AXIS + rows * LANE}px` }}>
      <canvas ref={canvas} role="img" aria-label={`Timeline of ${head.lanes.length} threads. Drag to select time.`}
        style={{ width: `${width}px`, height: `${Math.min(AXIS + rows * LANE, Math.max(view.height, AXIS + LANE))}px` }}
        onPointerDown={event => {
          if (event.button !== 0) return
          canvas.current!.setPointerCapture(event.pointerId)
          move([toTime(x(event)), toTime(x(event))])
        }}
        onPointerMove={event => { if (drag) move([drag[0], toTime(x(event))]) }}
        onPointerUp={finish} onPointerCancel={() => move(null)} onDblClick={() => onTime(null)} />
      </div>
    </div>
  )
}
