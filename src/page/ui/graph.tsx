// The call graph as a picture: the heaviest functions as boxes, callers above callees, calls as lines
// as thick as what they are worth.  Recursion is one box, which opens into its members, so nothing
// points upwards.  Functions that only call the next one share its box.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { layOut, type Edge } from './layers'
import type { Report } from './session'
import { useSize } from './size'
import { chosen, isIt, type Selected } from './state'
import { amount, grouped, percent } from './units'
import type { GraphLine, GraphRow } from './views'

const MOST = 100 // boxes
const WIDTH = 190, HEIGHT = 46, MEMBER = 20, MEMBERS_SHOWN = 12, THICK = 14
const LEAST_SCALE = 0.6

// above: functions that only call the next, the last one calls the box's.
interface Box { row: GraphRow; above: GraphRow[]; callees: Edge[]; height: number }

const worth = (of: { self: number | null; children: number | null }) => (of.self ?? 0) + (of.children ?? 0)

// What a caller has besides one call may be so little of the total.
const NOTHING = 0.0005

// Of the `count` heaviest: what stands for itself, and the calls among them.  Members are in their cycle's box.
function boxesOf(rows: GraphRow[], total: number, count: number, open: Set<number>): Box[] {
  const shown = rows.filter(row => row.kind === 'cycle' || row.cycle === 0).slice(0, count)
  const place = new Map<number, number>() // by index of the entry
  shown.forEach((row, i) => {
    place.set(row.index, i)
    for (const member of row.members) if (member.index !== null) place.set(member.index, i)
  })
  const calls = shown.map((row, from) => {
    const sums = new Map<number, number>()
    for (const line of row.callees) {
      const to = line.index === null ? undefined : place.get(line.index)
      if (to !== undefined && to !== from) sums.set(to, (sums.get(to) ?? 0) + worth(line))
    }
    return sums
  })
  const callers = shown.map((_, to) => calls.filter(sums => sums.has(to)).length)
  // The only one that a function calls, and nobody else does.
  const next = shown.map((row, i) => {
    const [call] = calls[i]!
    return row.kind === 'function' && call && shown[call[0]]!.kind === 'function' && callers[call[0]] === 1 && Math.abs(worth(row) - call[1]) <= NOTHING * Math.abs(total) ? call[0] : -1
  })
  const above: GraphRow[][] = shown.map(() => [])
  shown.forEach((_, i) => {
    if (next.includes(i)) return
    for (let at = i, run: GraphRow[] = []; ; at = next[at]!) {
      above[at] = run
      if (next[at]! < 0) break
      run = [...run, shown[at]!]
    }
  })
  const kept = shown.flatMap((_, i) => next[i]! < 0 ? [i] : [])
  // Calls of a run's first function are its box's.
  const box = new Map(kept.flatMap((i, k) => [shown[i]!, ...above[i]!].map(row => [place.get(row.index)!, k] as const)))
  return kept.map((i, from) => {
    const row = shown[i]!, members = row.kind === 'cycle' && open.has(row.cycle) ? Math.min(row.members.length, MEMBERS_SHOWN + 1) : 0
    return { row, above: above[i]!, callees: [...calls[i]!].map(([to, weight]) => ({ from, to: box.get(to)!, weight })), height: HEIGHT + members * MEMBER }
  })
}

function curve(route: { x: number; y: number }[]): string {
  return route.map(({ x, y }, i) => {
    if (i === 0) return `M${x} ${y}`
    const last = route[i - 1]!, middle = (last.y + y) / 2
    return `C${last.x} ${middle} ${x} ${middle} ${x} ${y}`
  }).join('')
}

interface Props {
  report: Report<GraphRow>
  selected: Selected | null
  search: RegExp | null
  onSelect(selected: Selected): void
}

export function GraphPicture({ report, selected, search, onSelect }: Props) {
  const [count, setCount] = useState(25)
  const [open, setOpen] = useState<Set<number>>(new Set())
  const boxes = useMemo(() => boxesOf(report.rows, report.total, count, open), [report, count, open])
  const edges = useMemo(() => boxes.flatMap(box => box.callees), [boxes])
  const layout = useMemo(() => layOut(boxes.map(({ height }) => ({ width: WIDTH, height })), edges.map(edge => ({ ...edge, weight: 4 * edge.weight / (report.total || 1) }))), [boxes, edges])
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame)
  const scale = Math.max(Math.min(width / layout.width, 1), LEAST_SCALE)
  const selectedBox = boxes.findIndex(({ row, above }) => [row, ...above, ...row.members].some(one => isIt(one, selected)))
  useLayoutEffect(() => {
    frame.current!.querySelector('.chosen')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [selectedBox, layout, scale])

  const figure = (value: number) => `${amount(value, report.metric.unit, report.total)}, ${percent(value, report.total)}`
  const name = (row: GraphRow) => row.kind === 'cycle' ? `recursion of ${grouped(row.members.length)} functions` : row.name
  const title = ({ row, above }: Box) => (above.length ? `${above[0]!.name} →${above.length > 1 ? ' … →' : ''} ` : '') + name(row)
  const all = ({ row, above }: Box) => [...above.map(name), ...(row.kind === 'cycle' ? row.members.map(line => line.name) : [row.name])].join('\n')
  const choose = (row: GraphRow) => {
    const of = row.kind === 'cycle' ? row.members[0] : row
    if (of) onSelect(chosen(of))
  }
  const toggle = (row: GraphRow) => {
    const next = new Set(open)
    if (!next.delete(row.cycle)) next.add(row.cycle)
    setOpen(next)
  }
  // Down to the heaviest callee, up to the heaviest caller, sideways within a layer.
  const neighbour = (at: number, key: string): number => {
    const heaviest = (calls: Edge[]) => calls.reduce<Edge | null>((most, call) => most === null || Math.abs(call.weight) > Math.abs(most.weight) ? call : most, null)
    if (key === 'ArrowDown') return heaviest(boxes[at]!.callees)?.to ?? -1
    if (key === 'ArrowUp') return heaviest(edges.filter(edge => edge.to === at))?.from ?? -1
    const place = layout.boxes[at]!, sign = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
    let found = -1
    layout.boxes.forEach((other, i) => {
      if (sign !== 0 && other.y === place.y && (other.x - place.x) * sign > 0 && (found < 0 || (layout.boxes[found]!.x - other.x) * sign > 0)) found = i
    })
    return found
  }
  const onKey = (event: KeyboardEvent, at: number) => {
    const to = neighbour(at, event.key)
    if (to >= 0) frame.current!.querySelectorAll<SVGGElement>('.node')[to]!.focus()
    else if (event.key === 'Enter' || event.key === ' ') choose(boxes[at]!.row)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const most = Math.min(report.rows.filter(row => row.kind === 'cycle' || row.cycle === 0).length, MOST)
  const press = (act: () => void) => (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    act()
    event.preventDefault()
    event.stopPropagation()
  }
  const member = (line: GraphLine, i: number) => {
    const act = () => onSelect(chosen(line))
    return <g key={i} class={isIt(line, selected) ? 'member chosen' : 'member'} role="button" tabindex={0} aria-label={`${line.name}: ${figure(worth(line))}`} onClick={act} onKeyDown={press(act)}>
      <title>{`${line.name}: ${figure(worth(line))}`}</title>
      <rect x="4" y={HEIGHT + i * MEMBER - 2} width={WIDTH - 8} height={MEMBER - 2} rx="3" />
      <text x="10" y={HEIGHT + i * MEMBER + 12} clip-path="url(#graph-name)" class={search?.test(line.name) ? 'found' : ''}>{line.name}</text>
    </g>
  }
  return (
    <div class="source">
      <p class="about">
        <label>functions shown <input type="range" min="2" max={Math.max(most, 2)} value={Math.min(count, most)} onInput={event => setCount(Number(event.currentTarget.value))} /> {Math.min(count, most)}</label>
        <span class="legend">Lines are as thick as what calls are worth, of each function the heaviest. Recursion is one box.</span>
      </p>
      <div class="text graph" ref={frame} tabIndex={-1}>
        <svg width={layout.width * scale} height={layout.height * scale} viewBox={`0 0 ${layout.width} ${layout.height}`} role="group" aria-label="Call graph">
          <defs><clipPath id="graph-name"><rect x="8" y="0" width={WIDTH - 16} height="4000" /></clipPath></defs>
          {edges.map((edge, i) => layout.routes[i]!.length > 1 &&
            <path key={`${edge.from} ${edge.to}`} d={curve(layout.routes[i]!)} class={edge.from === selectedBox || edge.to === selectedBox ? 'call near' : 'call'}
              stroke-width={Math.max(THICK * Math.abs(edge.weight) / (Math.abs(report.total) || 1), 0.75)}>
              <title>{`${title(boxes[edge.from]!)} → ${title(boxes[edge.to]!)}: ${figure(edge.weight)}`}</title>
            </path>)}
          {boxes.map((one, i) => {
            const { row, height } = one, place = layout.boxes[i]!, share = Math.min(Math.abs(worth(row) / (report.total || 1)), 1), own = Math.min(Math.abs(row.self / (report.total || 1)), 1)
            const isOpen = height > HEIGHT, isHit = search !== null && [row, ...one.above, ...row.members].some(line => search.test(line.name))
            return <g key={row.index} class={`${row.kind}${i === selectedBox ? ' chosen' : ''}`} transform={`translate(${place.x} ${place.y})`}>
              <g class="node" tabindex={0} role="button" aria-label={`${title(one)}: inclusive ${figure(worth(row))}; exclusive ${figure(row.self)}`} onClick={() => choose(row)} onKeyDown={event => onKey(event, i)}>
                <title>{`${all(one)}${row.module ? `, ${row.module}` : ''}\ninclusive ${figure(worth(row))}\nexclusive ${figure(row.self)}`}</title>
                <rect class="box" width={WIDTH} height={height} rx="6" />
                <rect class="share" x="1" y={HEIGHT - 6} width={(WIDTH - 2) * share} height="5" />
                <rect class="own" x="1" y={HEIGHT - 6} width={(WIDTH - 2) * own} height="5" />
                <text x="10" y="17" clip-path="url(#graph-name)" class={isHit ? 'found' : ''}>{title(one)}</text>
                <text x="10" y="34" class="figure">{percent(worth(row), report.total)}, own {percent(row.self, report.total)}</text>
              </g>
              {row.kind === 'cycle' && <g class="twist" role="button" tabindex={0} aria-expanded={isOpen} aria-label={`members of the ${name(row)}`} onClick={() => toggle(row)} onKeyDown={press(() => toggle(row))}>
                <rect x={WIDTH - 62} y="21" width="56" height="17" rx="4" />
                <text x={WIDTH - 12} y="34" text-anchor="end">{isOpen ? 'close ▴' : 'open ▾'}</text>
              </g>}
              {isOpen && row.members.slice(0, MEMBERS_SHOWN).map(member)}
              {isOpen && row.members.length > MEMBERS_SHOWN && <text x="10" y={HEIGHT + MEMBERS_SHOWN * MEMBER + 12} class="figure">and {row.members.length - MEMBERS_SHOWN} more</text>}
            </g>
          })}
        </svg>
      </div>
    </div>
  )
}
