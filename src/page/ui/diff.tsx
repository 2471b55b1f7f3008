// What changed since another profile: this one minus that, as `sonde diff`.  Orange is more, blue is
// less, which colour-blind people tell apart, too; what chance explains is dim.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer } from './answer'
import { changeOf } from './flame'
import { earlier, FIELDS, type Fields } from './selection'
import { Refused, type DiffReport, type DiffRow, type Options, type Session } from './session'
import type { Selected, State } from './state'
import { Table } from './table'
import { amount, noteText } from './units'

export interface Side { profile: number; name: string }
export interface Sides { old: Side; now: Side }

const columnOf = (state: State) => state.sort === 'inclusive' ? 'inclusive' as const : 'exclusive' as const

export function askDiff(session: Session, { old, now }: Sides, options: Options, state: State): Promise<DiffReport> {
  return session.diff(now.profile, old.profile, [...options, ['view', 'functions'], ['sort', columnOf(state)], ['limit', '0']], state.shares)
}

export const askChanges = (session: Session, { old, now }: Sides, options: Options, state: State) =>
  session.changes(now.profile, old.profile, options, state.byOld, state.shares)

interface Props {
  session: Session
  sides: Sides | null
  busy: boolean // they are being fetched
  error: string // why there are none
  store: Offer | null // null: the page is of no store
  answer: Answer<DiffReport>
  state: State
  search: RegExp | null
  onFile(file: Side): void
  onSwap(): void
  onSelect(selected: Selected): void
  onChange(change: Partial<State>): void
  hasStacks: boolean // to draw
  flame: ComponentChildren // the flame graph, if that is wanted instead of the table
}

// What of a store may be compared; the fields of what is, or at first of what the page shows.
export interface Offer {
  now: Fields
  base: Fields | null // null: not chosen yet
  own: Fields // of the page's profile
  range: [number, number] | null // and its time, in seconds since 1970
  left: string[] // filters that do not hold for what is compared
  onSelections(base: Fields, now: Fields): void
}

const EARLIER: [string, number][] = [['an hour', 3600], ['a day', 86400], ['a week', 604800]]

function Selections({ store, message, onDone }: { store: Offer; message: string; onDone(): void }) {
  const [now, setNow] = useState(store.now), [base, setBase] = useState(store.base ?? store.now)
  const isOwn = store.range && now.since === store.own.since && now.until === store.own.until
  const before = (by: number) => earlier(isOwn ? { ...now, since: '', until: '' } : now, store.range, by)
  const compare = (base: Fields) => { setBase(base); onDone(); store.onSelections(base, now) }
  const row = (label: string, fields: Fields, set: (fields: Fields) => void) => <>
    <b>{label}</b>
    {FIELDS.map(key => <input key={key} aria-label={`${label} ${key}`} value={fields[key]} spellcheck={false} onInput={event => set({ ...fields, [key]: event.currentTarget.value })} />)}
  </>
  return (
    <form class="drop pair" onSubmit={event => { event.preventDefault(); compare(base) }}>
      <p>Compare two selections of the store, as <code>sonde diff --store</code> does.</p>
      <div class="sides"><span />{FIELDS.map(key => <span key={key} class="lab">{key}</span>)}{row('new', now, setNow)}{row('old', base, setBase)}</div>
      <p class="lab">Times are UTC: 2026-11-27T09:30, or -2h. Labels: version=1.4. Empty: as the server was started.</p>
      <p><button class="file">Compare</button> <span class="lab">or with the same</span> <span class="seg">{EARLIER.map(([label, by]) => { const other = before(by); return <button key={label} type="button" disabled={other === null} onClick={() => compare(other!)}>{label} earlier</button> })}</span></p>
      {message && <p role="alert" class="message">{message}</p>}
    </form>
  )
}

function Choose({ onFile, message }: { onFile(file: File): void; message: string }) {
  return (
    <div class="drop" onDrop={event => { event.preventDefault(); event.stopPropagation(); const file = event.dataTransfer?.files[0]; if (file) onFile(file) }} onDragOver={event => event.preventDefault()}>
      <p>Drop another profile here: what this one has more and less than that is then shown, as <code>sonde diff</code> does.</p>
      <p><label class="file">Compare with<input type="file" aria-label="Compare with" onChange={event => { const file = event.currentTarget.files?.[0]; if (file) onFile(file) }} /></label></p>
      {message && <p role="alert" class="message">{message}</p>}
    </div>
  )
}

export function Diff({ session, sides, busy, error, store, answer, state, search, onFile, onSwap, onSelect, onChange, hasStacks, flame }: Props) {
  const [message, setMessage] = useState('')
  const [choosing, setChoosing] = useState(false)
  const column = columnOf(state)
  const open = async (file: File) => {
    try {
      onFile({ profile: await session.open(new Uint8Array(await file.arrayBuffer()), file.name), name: file.name })
      setMessage('')
      setChoosing(false)
    } catch (error) {
      setMessage(error instanceof Refused ? error.message : String(error))
    }
  }
  const choose = (message: string) => <div class="choices">{store && <Selections store={store} message={error} onDone={() => setChoosing(false)} />}<Choose onFile={file => void open(file)} message={message} /></div>
  if (choosing || !busy && (sides === null || error)) return choose(message)
  if (answer.error) return <div><p class="empty" role="alert">{answer.error}</p>{choose('')}</div>
  const report = answer.value
  if (busy || sides === null || answer.busy || report === null) return <p class="empty">…</p>
  const { unit } = report.metric, rows = report.rows
  const isIt = (row: DiffRow) => state.selected !== null && row.name === state.selected.name && (row.module ?? '') === state.selected.module
  const most = Math.max(...rows.map(row => Math.abs(row[column])), 1), size = Math.max(report.old.total, report.new.total)
  const total = (side: 'old' | 'new') => report.normalized ? amount(report.normalized[side], report.normalized.metric.unit) : amount(report[side].total, unit, size)
  const heading = (sort: 'exclusive' | 'inclusive') =>
    <button onClick={() => onChange({ sort })} aria-pressed={column === sort}>{sort}</button>
  return (
    <div class="source diff">
      <div class="about">
        <span><b>{sides.old.name}</b> {total('old')} → <b>{sides.now.name}</b> {total('new')}{!report.normalized && <>: <b>{report.total > 0 ? '+' : ''}{amount(report.total, unit, size)}</b></>}</span>
        {store && store.left.length > 0 && <span class="note">▲ without the filter {store.left.join(', ')}</span>}
        {report.notes.length === 1 && <span class="note" title={noteText(report.notes[0]!)}>▲ {noteText(report.notes[0]!)}</span>}
        {report.notes.length > 1 && <details class="notes"><summary>▲ {report.notes.length} notes</summary><ul>{report.notes.map((note, i) => <li key={i}>{noteText(note)}</li>)}</ul></details>}
        <span class="grow" />
        {state.drawn
          ? <><span class="key"><i class="less" />less <i class="more" />more <i class="pale" />pale: by chance, maybe</span>
            <span class="lab">as wide as</span><span class="seg" role="group" aria-label="Width of boxes">{[false, true].map(isByOld => <button key={String(isByOld)} aria-pressed={state.byOld === isByOld} onClick={() => onChange({ byOld: isByOld })}>{isByOld ? 'old' : 'new'}</button>)}</span></>
          : <span class="seg" role="group" aria-label="Compared figure">{heading('exclusive')}{heading('inclusive')}</span>}
        {hasStacks && <span class="seg" role="group" aria-label="How the difference is shown">{[false, true].map(drawn => <button key={String(drawn)} aria-pressed={state.drawn === drawn} onClick={() => onChange({ drawn })}>{drawn ? 'flame graph' : 'table'}</button>)}</span>}
        <span class="seg"><button aria-pressed={state.shares} onClick={() => onChange({ shares: !state.shares })}>shares</button><button onClick={onSwap}>swap</button><button onClick={() => setChoosing(true)}>{store ? 'another selection' : 'another file'}</button></span>
      </div>
      <div class="text">
        {state.drawn ? flame : <Table count={rows.length} label="Differences" cursor={rows.findIndex(isIt)} isSelected={i => isIt(rows[i]!)}
          onCursor={i => onSelect({ name: rows[i]!.name, module: rows[i]!.module ?? '' })}
          head={<><span role="columnheader" class="n two">{column}: change</span><span role="columnheader" class="n">old</span><span role="columnheader" class="n">new</span><span role="columnheader" class="n p">by chance?</span><span role="columnheader" class="name">{state.level}</span></>}
          row={i => {
            const row = rows[i]!, value = row[column]
            return <>
              <i class={`heat ${value > 0 ? 'more' : 'less'}`} style={{ opacity: Math.abs(value) / most }} />
              <span role="gridcell" class={`n ${row.significant ? value > 0 ? 'more' : 'less' : 'chance'}`}>{value > 0 ? '+' : ''}{amount(value, unit, size)}</span>
              <span role="gridcell" class="n p">{changeOf(row.old[column], row.new[column])}</span>
              <span role="gridcell" class="n">{amount(row.old[column], unit, size)}</span>
              <span role="gridcell" class="n">{amount(row.new[column], unit, size)}</span>
              <span role="gridcell" class="n p">{row.significant === null || value === 0 ? '' : row.significant ? 'no' : 'maybe'}</span>
              <span role="gridcell" class={`name${search?.test(row.name) ? ' hit' : ''}`} title={row.name}>{row.name}{row.module && <em>{row.module}</em>}</span>
            </>
          }} />}
      </div>
    </div>
  )
}
