// Selections of a store, as the command line names them (since=-2d,until=-1d,service=api), as fields of
// a form; and the times and names that filters stand for.

import type { Range, State } from './state'

export const FIELDS = ['since', 'until', 'service', 'host', 'labels'] as const
export type Fields = Record<typeof FIELDS[number], string>

// The selection of everything that the server's options leave.
const ALL = 'all'

export function fieldsOf(selection: string): Fields {
  const fields: Fields = { since: '', until: '', service: '', host: '', labels: '' }
  for (const item of selection.split(',')) {
    const at = item.indexOf('='), key = item.slice(0, at) as keyof Fields, value = item.slice(at + 1)
    if (item.startsWith('last=')) fields.since = `-${value}`
    // A field has one value, and further ones that are excluded stand with the labels.
    else if (FIELDS.includes(key) && key !== 'labels' && !(value.startsWith('!') && fields[key])) fields[key] = value
    else if (at > 0) fields.labels += (fields.labels && ',') + item
  }
  return fields
}

export const selectionOf = (fields: Fields) =>
  FIELDS.filter(key => fields[key].trim()).map(key => key === 'labels' ? fields.labels.trim() : `${key}=${fields[key].trim()}`).join(',') || ALL

// Seconds since 1970 as the command line's times; and back.
const SECONDS: Record<string, number> = { s: 1, min: 60, h: 3600, d: 86400 }
const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19)
function secondsOf(text: string): number {
  const ago = /^-([\d.]+)(s|min|h|d)$/.exec(text)
  if (ago) return Date.now() / 1000 - Number(ago[1]) * SECONDS[ago[2]!]!
  return Date.parse(text.length > 10 ? text.replace(/Z?$/, 'Z') : text) / 1000
}

// What was so many seconds earlier: of a selection without times, than `range`, in seconds since 1970; null: that is unknown.
export function earlier(fields: Fields, range: Range | null, by: number): Fields | null {
  const [since, until] = fields.since || fields.until ? [fields.since ? secondsOf(fields.since) : 0, secondsOf(fields.until || '-0s')] : range ?? [0, NaN]
  return since >= 0 && until > since ? { ...fields, since: since ? timeText(since - by) : '', until: timeText(until - by) } : null
}

// The fields that a filter stands for: a dragged time, from the profile's start, or a label's plain value; null: none can.
function fieldsOfFilter([name, value]: State['filters'][number], start_unix_ns: number): [string, string][] | null {
  const time = name === 'time' && /^(\d+)ns:(\d+)ns$/.exec(value), label = name === 'label' && /^([^=,]+)=\^?([\w.:/-]+)\$?$/.exec(value)
  if (time) return [['since', 1], ['until', 2]].map(([key, i]) => [key as string, timeText(Math.ceil((start_unix_ns + Number(time[i as number])) / 1e9))])
  return label ? [[label[1]!, label[2]!]] : null
}

// A selection with what the filters choose in place of its own.
export function withFilters(selection: string, filters: State['filters'], start_unix_ns: number): Fields {
  const chosen = filters.flatMap(filter => fieldsOfFilter(filter, start_unix_ns) ?? []).map(([key, value]) => `${key}=${value}`)
  return fieldsOf([selection, ...chosen].join(','))
}

// The filters that hold for both of two selections: without those whose time or label one of them names.
export function sharedFilters(filters: State['filters'], selections: string[], start_unix_ns: number): State['filters'] {
  const named = new Set(selections.flatMap(s => s.split(',')).map(item => item.split('=')[0]))
  if (named.has('since') || named.has('until') || named.has('last')) ['since', 'until'].forEach(key => named.add(key))
  return filters.filter(filter => !fieldsOfFilter(filter, start_unix_ns)?.some(([key]) => named.has(key)))
}
