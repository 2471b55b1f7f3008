// The session in its worker: bytes and options in, answers out.  The options are those of
// `sonde report`, and the answers are its answers: nothing is computed here.

import type { FromWorker, ToWorker } from './worker'

export type Options = [string, string | null][]

export interface Metric { name: string; unit: string; total: number }

export interface About {
  source: string
  format: string
  command: string
  host: string
  start_unix_ns: number
  metrics: Metric[]
  metric: string
  has_times: boolean
  has_threads: boolean
  has_stacks: boolean
  has_zones: boolean
  has_zone_events: boolean
  ticks: number
  counted: number | null
  expected: number | null
  lost: number | null
  critical: number | null
  duration_ns: number | null
  cpu_ns: number | null
  interval_ns: number | null
  fit: boolean
}

export interface Note { kind: string; count: number; text: string }
export interface Kept { filter: string; value: string; kept: number }

export interface Report<Row> {
  view: string
  level: string
  metric: { name: string; unit: string }
  total: number
  filters: Kept[]
  metrics?: Metric[] // if several were asked for: that of the report first
  notes: Note[]
  rows: Row[]
}

export interface FunctionRow {
  name: string
  module: string | null
  file: string | null
  line: number | null
  exclusive: number
  inclusive: number
  metrics?: Figures[] // of the report's metrics
}
export interface CallLine { name: string; module: string | null; attributed: number; recursive: boolean }
export interface CallersRow extends FunctionRow { callers: CallLine[]; callees: CallLine[] }
export interface TreeRow {
  level: number
  name: string
  module: string | null
  kind: 'node' | 'stub'
  direct: number | null
  indirect: number | null
  in_only: number | null
  target: number | null
}

export interface CodeRow {
  kind: 'line' | 'inline' | 'instruction'
  file: string | null
  line: number | null
  address: number | null
  function: string | null
  depth: number
  text: string | null
  exclusive: number
  inclusive: number
}
export interface CodeReport extends Report<CodeRow> {
  function: FunctionRow & { hottest: { file: string; line: number; exclusive: number } | null }
}

interface Figures { exclusive: number; inclusive: number }
export interface DiffRow extends FunctionRow { old: Figures; new: Figures; significant: boolean | null }
export interface DiffReport extends Report<DiffRow> { old: { source: string; total: number }; new: { source: string; total: number }; normalized?: { metric: { unit: string }; old: number; new: number } }

export type Columns = Record<string, Uint32Array | Float64Array>
export interface Packed<Head> { head: Head; columns: Columns }

// colour: of the box of all stacks; names: function, load object, colour; left_out: boxes, none of them wider than `least`.
// Of a difference, columns have each box's colour, and more figures (change_boxes.h).
export interface FlameHead { unit: string; depth: number; total: number; colour: number; names: [string, string, number][]; left_out: number; least: number }
export interface Lane {
  thread?: string
  tid?: number
  process?: string
  pid?: number
  id?: number // of the thread in the profile
  number: number
}
// A process: so many lanes from `first` on, and the most that they have in a slice together.
export interface LaneGroup { process?: string; pid?: number; first: number; count: number; peak: number }
// whole: the time of all that is shown, which may be more than the slices'.
export interface LanesHead {
  begin: number; slice: number; slices: number; whole_begin: number; whole_end: number; unit: string
  lanes: Lane[]; processes: LaneGroup[]; streams: string[]
}
// zones: name, load object, colour; events: names of metrics.
export interface MarksHead { begin: number; slice: number; slices: number; levels: number; zones: [string, string, number][]; events: string[] }

// The stream that is shown if none is chosen: that of Prof_update, as in `--tick`.
export const mainStream = (head: LanesHead) => Math.max(head.streams.indexOf('frame'), 0)

export class Refused extends Error {}
export class Cancelled extends Error {}

interface Pending { resolve(bytes: Uint8Array): void; reject(error: Error): void }

function parse(bytes: Uint8Array): any {
  const value = JSON.parse(new TextDecoder().decode(bytes))
  if (typeof value.error === 'string') throw new Refused(value.error)
  return value
}

function unpack<Head>(bytes: Uint8Array): Packed<Head> {
  // An error is plain JSON.
  if (bytes[0] === 0x7b && bytes[1] === 0x22) parse(bytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const size = view.getUint32(0, true)
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)))
  const start = bytes.byteOffset + (8 + size + 7 & ~7)
  const columns: Columns = {}
  for (const [name, [type, offset, count]] of Object.entries(head.columns as Record<string, [string, number, number]>))
    columns[name] = type === 'u32'
      ? new Uint32Array(bytes.buffer, start + offset, count)
      : new Float64Array(bytes.buffer, start + offset, count)
  return { head, columns }
}

// One profile after another, each with its bytes, so that a module that ended can start again.
export class Session {
  private worker!: Worker
  private next = 1
  private readonly pending = new Map<number, Pending>()
  private readonly files: { bytes: Uint8Array; name: string; code?: Uint8Array }[] = []
  private ready: Promise<unknown> = Promise.resolve()
  private opening: Promise<unknown> = Promise.resolve()

  constructor(private readonly source: string, private readonly compiled: WebAssembly.Module) {
    this.start()
  }

  private start(): void {
    const url = URL.createObjectURL(new Blob([this.source], { type: 'text/javascript' }))
    this.worker = new Worker(url)
    URL.revokeObjectURL(url)
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.take(event.data)
    this.worker.onerror = event => this.restart(event.message || 'the worker failed')
    this.ready = this.send({ id: 0, start: this.compiled })
    this.files.forEach(({ bytes, name, code }, profile) => {
      this.ready = this.ready.then(() => this.send({ id: 0, open: bytes, name, place: profile }))
      if (code) this.ready = this.ready.then(() => this.send({ id: 0, code, profile }))
    })
  }

  private send(message: ToWorker): Promise<Uint8Array> {
    message.id = this.next++
    return new Promise((resolve, reject) => {
      this.pending.set(message.id, { resolve, reject })
      this.worker.postMessage(message)
    })
  }

  private take(message: FromWorker): void {
    const pending = this.pending.get(message.id)
    if (pending === undefined) return
    this.pending.delete(message.id)
    if ('bytes' in message) {
      pending.resolve(message.bytes)
      return
    }
    pending.reject(new Refused(message.ended))
    this.restart(message.ended)
  }

  private restart(why: string): void {
    this.worker.terminate()
    const lost = [...this.pending.values()]
    this.pending.clear()
    this.start()
    for (const pending of lost) pending.reject(new Refused(why))
  }

  // What is fetched from a server ends with it.
  stop = new AbortController()

  // Gives up what is being computed: the worker starts again, and reads the files again.
  cancel(): void {
    this.stop.abort()
    this.stop = new AbortController()
    this.worker.terminate()
    const lost = [...this.pending.values()]
    this.pending.clear()
    this.start()
    for (const pending of lost) pending.reject(new Cancelled('cancelled'))
  }

  // place: of the profile that this one replaces, which nobody asks for any more.  One after the other, as each has the next place.
  open(bytes: Uint8Array, name: string, place?: number): Promise<number> {
    const opened = this.opening.then(() => this.openNext(bytes, name, place))
    this.opening = opened.catch(() => {})
    return opened
  }

  private async openNext(bytes: Uint8Array, name: string, place = this.files.length): Promise<number> {
    await this.ready
    const { profile } = parse(await this.send({ id: 0, open: bytes, name, place }))
    this.files[place] = { bytes, name }
    return profile
  }

  // The code that goes with a profile.
  async carry(profile: number, code: Uint8Array): Promise<void> {
    parse(await this.send({ id: 0, code, profile }))
    this.files[profile]!.code = code
  }

  private async ask(ask: string, profile: number, more: object): Promise<Uint8Array> {
    await this.ready
    return this.send({ id: 0, ask: { ask, profile, ...more } })
  }

  async about(profile: number): Promise<About> {
    return parse(await this.ask('about', profile, {}))
  }

  // lines: callers and callees of each entry at most; 0: all.
  async report<Row>(profile: number, options: Options, lines = 0): Promise<Report<Row>> {
    return parse(await this.ask('report', profile, { options, lines }))
  }

  // The answer as text, exactly as `sonde report --format json` prints it.
  async text(profile: number, options: Options): Promise<string> {
    const bytes = await this.ask('report', profile, { options })
    parse(bytes)
    return new TextDecoder().decode(bytes)
  }

  async annotate(profile: number, options: Options, name: string): Promise<CodeReport> {
    return parse(await this.ask('annotate', profile, { options, function: name }))
  }

  // This profile minus the old one; shares: of their totals.
  async diff(profile: number, old: number, options: Options, shares: boolean): Promise<DiffReport> {
    return parse(await this.ask('diff', profile, { options, old, normalize: +shares }))
  }

  // What the command line prints.
  async printed(profile: number, options: Options): Promise<string> {
    const bytes = await this.ask('text', profile, { options })
    if (bytes[0] === 0x7b) parse(bytes)
    return new TextDecoder().decode(bytes)
  }

  async flame(profile: number, options: Options): Promise<Packed<FlameHead>> {
    return unpack(await this.ask('flame', profile, { options }))
  }

  // Of this profile minus the old one, as wide as this one or as the old.
  async changes(profile: number, old: number, options: Options, isByOld: boolean, shares: boolean): Promise<Packed<FlameHead>> {
    return unpack(await this.ask('flame', profile, { options, old, by_old: +isByOld, normalize: +shares }))
  }

  // Zones and events of threads.
  async marks(profile: number, options: Options, threads: number[], slices: number, from: number, to: number): Promise<Packed<MarksHead>> {
    return unpack(await this.ask('marks', profile, { options, threads, slices, from, to }))
  }

  async lanes(profile: number, options: Options, slices: number, from = 0, to = 0): Promise<Packed<LanesHead>> {
    return unpack(await this.ask('lanes', profile, { options, slices, from, to }))
  }
}
