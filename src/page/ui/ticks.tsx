// How long each tick of a stream took, in order, and how often which duration occurred.  A click selects
// a tick, as its bar below the lanes does; buttons select the slowest ones.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { mainStream, type LanesHead, type Packed } from './session'
import { useSize } from './size'
import type { Range } from './state'
import { duration, grouped } from './units'

const HEIGHT = 96, BINS = 48, EDGE = 14

interface Props {
  lanes: Packed<LanesHead> // with a tick or more
  from: number | null // the selected time, in ns
  to: number | null
  dark: boolean
  onTime(range: Range | null): void
}

// Of sorted values: the one below which that part is.
const quantile = (sorted: Float64Array, part: number) => sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)]!

export function Ticks({ lanes, from, to, dark, onTime }: Props) {
  const { head, columns } = lanes
  const starts = columns.tick_start!, ends = columns.tick_end!, numbers = columns.tick_number!, streams = columns.tick_stream!
  const [stream, setStream] = useState(mainStream(head))
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(box)
  const ticks = useMemo(() => Uint32Array.from([...streams.keys()].filter(i => streams[i] === stream)), [lanes, stream])
  const took = useMemo(() => Float64Array.from(ticks, i => ends[i]! - starts[i]!), [ticks])
  const sorted = useMemo(() => took.slice().sort(), [took])
  const slowest = useMemo(() => [...took.keys()].sort((a, b) => took[b]! - took[a]! || a - b).slice(0, 100), [took])
  const chosen = ticks.findIndex(i => starts[i]! + 1 === from && ends[i]! + 1 === to)
  const plot = Math.max(width - BINS * 4 - 3 * EDGE, 1), most = sorted[sorted.length - 1] || 1

  useLayoutEffect(() => {
    const element = canvas.current!, context = element.getContext('2d')!, ratio = window.devicePixelRatio || 1
    element.width = width * ratio
    element.height = HEIGHT * ratio
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, HEIGHT)
    const style = getComputedStyle(element), colour = (name: string) => style.getPropertyValue(name)
    const tall = HEIGHT - 22, slow = 2 * quantile(sorted, 0.5)
    const bar = (x: number, w: number, share: number, name: string) => {
      context.fillStyle = colour(name)
      context.fillRect(x, HEIGHT - 4 - share * tall, w, Math.max(share * tall, 1))
    }
    // The longest of those that share a pixel.
    const step = Math.max(plot / Math.max(took.length, 1), 1), columnsShown = Math.min(took.length, Math.floor(plot))
    for (let x = 0; x < columnsShown; x++) {
      const first = Math.floor(x * took.length / columnsShown), last = Math.max(Math.floor((x + 1) * took.length / columnsShown), first + 1)
      let longest = 0
      for (let i = first; i < last; i++) longest = Math.max(longest, took[i]!)
      bar(EDGE + x * step, Math.max(step - (step > 3 ? 1 : 0), 0.7), longest / most, chosen >= first && chosen < last ? '--accent' : longest > slow ? '--hot' : '--tick')
    }
    const counts = new Uint32Array(BINS)
    for (const one of took) counts[Math.min(Math.floor(one / most * BINS), BINS - 1)]!++
    const tallest = Math.max(...counts, 1)
    counts.forEach((count, i) => { if (count) bar(EDGE * 2 + plot + i * 4, 3, Math.log1p(count) / Math.log1p(tallest), (i + 0.5) / BINS * most > slow ? '--hot' : '--tick') })
    context.fillStyle = colour('--dim')
    context.font = '11px system-ui, "Segoe UI", Inter, "DejaVu Sans", sans-serif'
    context.fillText(`${duration(most)}`, EDGE, 12)
    context.fillText('how many (log) took how long', EDGE * 2 + plot, 12)
  }, [took, width, dark, chosen])

  // A tick ends with the moment of its end, and begins behind that of its start.
  const select = (at: number | undefined) => { if (at !== undefined) onTime([starts[ticks[at]!]! + 1, ends[ticks[at]!]! + 1]) }
  const rank = slowest.indexOf(chosen)
  return (
    <section class="ticks" aria-label="Ticks">
      <p>
        {head.streams.length > 1
          ? <select aria-label="Stream" value={stream} onChange={event => setStream(Number(event.currentTarget.value))}>{head.streams.map((name, i) => <option key={i} value={i}>{name}</option>)}</select>
          : <b>{head.streams[0]}</b>}
        <span>{grouped(took.length)} ticks</span>
        <span>median {duration(quantile(sorted, 0.5))}</span>
        <span>95 % within {duration(quantile(sorted, 0.95))}</span>
        <span>slowest {duration(most)}, number {grouped(numbers[ticks[slowest[0]!]!]!)}</span>
        <span class="grow" />
        <span class="seg">
          <button onClick={() => select(slowest[rank <= 0 ? 0 : rank - 1])}>slower</button>
          <button onClick={() => select(slowest[Math.min(rank + 1, slowest.length - 1)])}>{rank < 0 ? 'slowest' : 'next slowest'}</button>
          <button disabled={chosen < 0} onClick={() => onTime(null)}>all</button>
        </span>
      </p>
      <div ref={box}>
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${HEIGHT}px` }} aria-hidden="true"
          onClick={event => {
            const x = event.offsetX - EDGE
            if (x >= 0 && x < plot) select(Math.min(Math.floor(x / plot * took.length), took.length - 1))
          }} />
      </div>
    </section>
  )
}
