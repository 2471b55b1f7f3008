// What is selected: its figures, who pays for it, what it calls, and what can be done next.

import type { CallersRow, CallLine, Report } from './session'
import { explain, RULES } from './rules'
import { chosen, isZone, type Selected, type State } from './state'
import { amount, percent } from './units'

export const quoteRegex = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
// WHEN's pattern of a function, by its exact name.
export const quoteWhen = (name: string) => `.'${name.replace(/'/g, "''")}'`

export const sum = (lines: CallLine[]) => lines.reduce((total, line) => total + line.attributed, 0)

interface Props {
  busy: boolean
  report: Report<CallersRow> | null // of the selected function; null: not known, or not yet
  isGone: boolean // the filters leave nothing of it
  selected: Selected | null
  onSelect(selected: Selected): void
  onFilter(name: string, value: string): void
  onView(view: State['view']): void
}

export function Inspector({ busy, report, isGone, selected, onSelect, onFilter, onView }: Props) {
  if (selected === null)
    return <aside aria-label="Selection"><h2>Nothing selected</h2><p class="m">Choose a box or a row: it is then marked in every view.</p></aside>
  const row = report?.rows[0]
  const figure = (value: number) => amount(value, report!.metric.unit, report!.total)
  const list = (title: string, lines: { name: string; module: string | null; attributed: number }[]) => <>
    <h3>{title}</h3>
    <ul>{lines.filter(line => line.attributed !== 0).slice(0, 8).map((line, i) => <li key={i}>
      <button disabled={line.name === '<Total>'} onClick={() => onSelect(chosen(line))} title={line.name}>
        <span class="name">{line.name === '<Total>' ? '(outermost)' : line.name}</span>
        <span class="n">{figure(line.attributed)}</span><span class="n d">{percent(line.attributed, report!.total)}</span>
      </button>
    </li>)}</ul>
  </>
  const share = (name: string, value: number) => <>
    <dt title={RULES[name]}>{name}</dt><dd class="w"><i style={{ width: `${report!.total ? Math.min(100 * Math.abs(value / report!.total), 100) : 0}%` }} /></dd>
    <dd class="n" title={explain(name, value, report!.metric.unit)}>{figure(value)}</dd><dd class="n d">{percent(value, report!.total)}</dd>
  </>
  return (
    <aside aria-label="Selection" aria-busy={busy} tabIndex={0}>
      <h2>{selected.name}</h2>
      <p class="m">{selected.module || 'no load object'}{row?.file ? ` · ${row.file}${row.line ? `:${row.line}` : ''}` : ''}</p>
      {(isGone || report && !row) && <p class="m">The filters leave nothing of it.</p>}
      {row && <>
        <dl class="fig">{share('exclusive', row.exclusive)}{share('inclusive', row.inclusive)}</dl>
        {list('Called by', row.callers)}
        {list('Calls', row.callees)}
        <p class="sum">callers {figure(sum(row.callers))} = inclusive {figure(row.inclusive)} = exclusive {figure(row.exclusive)} + callees {figure(sum(row.callees))}</p>
      </>}
      <h3>Actions</h3>
      <p class="actions">
        <button onClick={() => onView('callers')}><kbd>4</kbd> callers</button>
        {isZone(selected) ? <button onClick={() => onFilter('zone', `^${quoteRegex(selected.name)}$`)}><kbd>f</kbd> this zone only</button> : <>
          <button onClick={() => onView('source')}><kbd>6</kbd> source</button>
          <button onClick={() => onFilter('focus', `^${quoteRegex(selected.name)}$`)}><kbd>f</kbd> focus</button>
          <button onClick={() => onFilter('ignore', `^${quoteRegex(selected.name)}$`)}><kbd>i</kbd> ignore</button>
          <button onClick={() => onFilter('hide', `^${quoteRegex(selected.name)}$`)}><kbd>h</kbd> hide</button>
          <button onClick={() => onFilter('when', quoteWhen(selected.name))}><kbd>w</kbd> charge</button>
        </>}
      </p>
    </aside>
  )
}
