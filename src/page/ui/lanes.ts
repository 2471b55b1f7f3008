// The rows of the timeline, and what is drawn on them: where, and what is under the pointer.

import type { Lane, LaneGroup, LanesHead, MarksHead, Packed } from './session'
import { grouped } from './units'

// With so many threads or fewer, all are in sight at first; else those of the busiest process alone.
const FEW = 12

export interface Row {
  kind: 'process' | 'thread' | 'ticks'
  key: string
  y: number
  height: number
  level: number
  place: number // among its siblings, from 1
  of: number
  label: string
  detail: string
  title: string
  columns: string // of the lanes' answer: what their names begin with
  pid: string
  lane?: Lane
  group?: LaneGroup
  isOpen?: boolean // of a process with several threads, if there are several processes
}

const detailOf = (id: number | undefined) => id ? String(id) : ''

// heightOf: of a thread's row, by its id.  A process with one thread has only that one's row.
export function layOut(head: LanesHead, folds: string[], hasTicks: boolean, heightOf: (thread: number) => number, plain: number): { rows: Row[]; height: number } {
  const rows: Row[] = [], isGrouped = head.processes.length > 1, few = head.lanes.length <= FEW, folded = new Set(folds)
  let y = 0
  const add = (row: Omit<Row, 'y'>) => {
    rows.push({ ...row, y })
    y += row.height
  }
  const thread = (lane: Lane, level: number, place: number, of: number) => add({
    kind: 'thread', key: `t${lane.number}`, height: lane.id === undefined ? plain : heightOf(lane.id), level, place, of, columns: String(lane.number), pid: String(lane.pid ?? ''), lane,
    label: lane.thread ?? 'all', detail: detailOf(lane.tid),
    title: lane.tid === undefined ? 'all threads' : `${lane.thread}, thread ${lane.tid} of ${lane.process} ${lane.pid}: a click keeps only this one`,
  })
  head.processes.forEach((group, g) => {
    const members = head.lanes.slice(group.first, group.first + group.count), pid = String(group.pid ?? '')
    if (!isGrouped || group.count === 1) {
      members.forEach((lane, i) => thread(lane, 1, isGrouped ? g + 1 : i + 1, isGrouped ? head.processes.length : members.length))
      return
    }
    const isOpen = (few || g === 0 && group.count <= FEW) !== folded.has(pid)
    add({
      kind: 'process', key: `p${g}`, height: plain, level: 1, place: g + 1, of: head.processes.length, label: group.process ?? '', detail: `${pid} · ${grouped(group.count)}`, columns: `p${g}`, pid, group, isOpen,
      title: `${group.process}, process ${pid}: ${grouped(group.count)} threads, summed. A click ${isOpen ? 'folds' : 'unfolds'} them`,
    })
    if (isOpen) members.forEach((lane, i) => thread(lane, 2, i + 1, members.length))
  })
  if (hasTicks)
    add({ kind: 'ticks', key: 'ticks', height: plain, level: 1, place: 1, of: 1, label: head.streams[Math.max(head.streams.indexOf('frame'), 0)] ?? 'ticks', detail: 'ticks', title: 'ticks: a click selects one', columns: '', pid: '' })
  return { rows, height: y }
}

export class Marks {
  readonly depth: Uint32Array
  readonly count: Uint32Array
  readonly measured: Uint32Array
  readonly start: Float64Array
  readonly end: Float64Array
  readonly busy: Float64Array
  readonly bars: number
  readonly depths = new Map<number, number>() // of each thread's bars
  private readonly zones: Uint32Array
  private readonly thread: Uint32Array
  private readonly runs = new Map<number, [number, number][]>() // by thread and depth: first bar, one past the last
  private readonly events = new Map<number, number[]>()

  constructor(private readonly answer: Packed<MarksHead>) {
    const c = answer.columns
    this.depth = c.bar_depth as Uint32Array
    this.count = c.bar_count as Uint32Array
    this.measured = c.bar_measured as Uint32Array
    this.zones = c.bar_zone as Uint32Array
    this.thread = c.bar_thread as Uint32Array
    this.start = c.bar_start as Float64Array
    this.end = c.bar_end as Float64Array
    this.busy = c.bar_busy as Float64Array
    this.bars = this.depth.length
    for (let i = 0; i < this.bars; i++) {
      let runs = this.runs.get(this.thread[i]!)
      if (!runs) this.runs.set(this.thread[i]!, runs = [])
      const run = runs[this.depth[i]!]
      if (run) run[1] = i + 1
      else runs[this.depth[i]!] = [i, i + 1]
      this.depths.set(this.thread[i]!, Math.max(this.depths.get(this.thread[i]!) ?? 0, this.depth[i]! + 1))
    }
    c.event_thread!.forEach((thread, i) => {
      const list = this.events.get(thread)
      if (list) list.push(i)
      else this.events.set(thread, [i])
    })
  }

  zone(bar: number): [string, string, number] { return this.answer.head.zones[this.zones[bar]!]! }

  // The bars of a thread, by depth and time.
  of(thread: number | undefined): number[] {
    const list: number[] = []
    for (const [first, last] of this.runs.get(thread!) ?? []) for (let i = first; i < last; i++) list.push(i)
    return list
  }

  // The last bar of that depth that begins before that time.
  private before(thread: number, depth: number, ns: number): number {
    const run = this.runs.get(thread)?.[depth]
    if (!run) return -1
    let [low, high] = run
    while (low < high) {
      const middle = low + high >> 1
      if (this.start[middle]! <= ns) low = middle + 1
      else high = middle
    }
    return low > run[0] ? low - 1 : -1
  }

  // near: a bar that is that near counts, as a narrow one is wider in the picture.
  find(thread: number, depth: number, ns: number, near: number): number {
    const bar = this.before(thread, depth, ns + near)
    return bar >= 0 && ns <= Math.max(this.end[bar]!, this.start[bar]! + near) + near / 2 ? bar : -1
  }

  beside(bar: number, by: 1 | -1): number {
    const run = bar < 0 ? undefined : this.runs.get(this.thread[bar]!)?.[this.depth[bar]!]
    return run && bar + by >= run[0] && bar + by < run[1] ? bar + by : -1
  }

  below(bar: number): number {
    if (bar < 0) return -1
    const run = this.runs.get(this.thread[bar]!)?.[this.depth[bar]! + 1]
    const at = run ? Math.max(this.before(this.thread[bar]!, this.depth[bar]! + 1, this.start[bar]!), run[0]) : -1
    return at >= 0 && this.start[at]! < this.start[bar]! && at + 1 < run![1] ? at + 1 : at
  }

  above(bar: number): number {
    return bar < 0 || this.depth[bar] === 0 ? -1 : this.before(this.thread[bar]!, this.depth[bar]! - 1, this.start[bar]!)
  }

  eventsOf(thread: number | undefined): number[] { return this.events.get(thread!) ?? [] }

  eventTime(i: number): number {
    const { begin, slice } = this.answer.head
    return begin + (this.answer.columns.event_slice![i]! + 0.5) * slice
  }

  // "3 page-faults": of each kind, the dot next to that time.
  eventsNear(thread: number, ns: number, near: number): string[] {
    const nearest = new Map<number, number>(), far = (i: number) => Math.abs(this.eventTime(i) - ns)
    for (const i of this.eventsOf(thread)) {
      const metric = this.answer.columns.event_metric![i]!, known = nearest.get(metric)
      if (far(i) <= near && (known === undefined || far(i) < far(known))) nearest.set(metric, i)
    }
    return [...nearest].map(([metric, i]) => `${grouped(this.answer.columns.event_weight![i]!)} ${this.answer.head.events[metric]}`)
  }
}
