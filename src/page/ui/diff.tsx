// What changed since another profile: this one minus that, as `sonde diff`.  Orange is more, blue is
// less, which colour-blind people tell apart, too; what chance explains is dim.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer } from './answer'
import { changeOf } from './flame'
import { Refused, type DiffReport, type DiffRow, type Options, type Session } from './session'
import type { Selected, State } from './state'
import { Table } from './table'
import { amount, noteText } from './units'

// The profile that the page's is compared with; swapped: it is the new one.
export interface Other { profile: number; name: string; swapped: boolean }

const columnOf = (state: State) => state.sort === 'inclusive' ? 'inclusive' as const : 'exclusive' as const

// Which of the two is the new one.
const sides = (profile: number, other: Other) => other.swapped ? [other.profile, profile] as const : [profile, other.profile] as const

export function askDiff(session: Session, profile: number, other: Other, options: Options, state: State): Promise<DiffReport> {
  return session.diff(...sides(profile, other), [...options, ['view', 'functions'], ['sort', columnOf(state)], ['limit', '0']])
}

export const askChanges = (session: Session, profile: number, other: Other, options: Options, isByOld: boolean) =>
  session.changes(...sides(profile, other), options, isByOld)

interface Props {
  session: Session
  name: string
  other: Other | null
  answer: Answer<DiffReport>
  state: State
  search: RegExp | null
  onOther(other: Other | null): void
  onSelect(selected: Selected): void
  onSort(sort: State['sort']): void
  onDrawn: ((drawn: boolean) => void) | null // null: there are no stacks to draw
  onWidths(isByOld: boolean): void
  flame: ComponentChildren // the flame graph, if that is wanted instead of the table
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

export function Diff({ session, name, other, answer, state, search, onOther, onSelect, onSort, onDrawn, onWidths, flame }: Props) {
  const [message, setMessage] = useState('')
  const column = columnOf(state)
  const open = async (file: File) => {
    try {
      onOther({ profile: await session.open(new Uint8Array(await file.arrayBuffer()), file.name), name: file.name, swapped: false })
      setMessage('')
    } catch (error) {
      setMessage(error instanceof Refused ? error.message : String(error))
    }
  }
  if (other === null) return <Choose onFile={file => void open(file)} message={message} />
  if (answer.error) return <div><p class="empty" role="alert">{answer.error}</p><Choose onFile={file => void open(file)} message="" /></div>
  const report = answer.value, { swapped } = other
  if (answer.busy || report === null) return <p class="empty">…</p>
  const { unit } = report.metric, rows = report.rows
  const isIt = (row: DiffRow) => state.selected !== null && row.name === state.selected.name && (row.module ?? '') === state.selected.module
  const most = Math.max(...rows.map(row => Math.abs(row[column])), 1), size = Math.max(report.old.total, report.new.total)
  const heading = (sort: 'exclusive' | 'inclusive') =>
    <button onClick={() => onSort(sort)} aria-pressed={column === sort}>{sort}</button>
  return (
    <div class="source diff">
      <div class="about">
        <span><b>{swapped ? name : other.name}</b> {amount(report.old.total, unit, size)} → <b>{swapped ? other.name : name}</b> {amount(report.new.total, unit, size)}: <b>{report.total > 0 ? '+' : ''}{amount(report.total, unit, size)}</b></span>
        {report.notes.length === 1 && <span class="note" title={noteText(report.notes[0]!)}>▲ {noteText(report.notes[0]!)}</span>}
        {report.notes.length > 1 && <details class="notes"><summary>▲ {report.notes.length} notes</summary><ul>{report.notes.map((note, i) => <li key={i}>{noteText(note)}</li>)}</ul></details>}
        <span class="grow" />
        {state.drawn
          ? <><span class="key"><i class="less" />less <i class="more" />more <i class="pale" />pale: by chance, maybe</span>
            <span class="lab">as wide as</span><span class="seg" role="group" aria-label="Width of boxes">{[false, true].map(isByOld => <button key={String(isByOld)} aria-pressed={state.byOld === isByOld} onClick={() => onWidths(isByOld)}>{isByOld ? 'old' : 'new'}</button>)}</span></>
          : <span class="seg" role="group" aria-label="Compared figure">{heading('exclusive')}{heading('inclusive')}</span>}
        {onDrawn && <span class="seg" role="group" aria-label="How the difference is shown">{[false, true].map(drawn => <button key={String(drawn)} aria-pressed={state.drawn === drawn} onClick={() => onDrawn(drawn)}>{drawn ? 'flame graph' : 'table'}</button>)}</span>}
        <span class="seg"><button onClick={() => onOther({ ...other, swapped: !swapped })}>swap</button><button onClick={() => onOther(null)}>another file</button></span>
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
