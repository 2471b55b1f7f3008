// What is shown: all of it is in the URL's fragment, so that a link restores a view, and undo goes
// back to it.

import type { Options } from './session'

export const VIEWS = ['flame', 'tree', 'functions', 'callers', 'graph', 'source', 'zones', 'diff', 'statistics'] as const
export type View = typeof VIEWS[number]
export const COLLAPSE = ['none', 'direct', 'conservative', 'full'] as const
export const LEVELS = ['function', 'module', 'file', 'line'] as const

export interface Selected { name: string; module: string }

interface Named { name: string; module: string | null }
export const isIt = (row: Named, selected: Selected | null) =>
  selected !== null && row.name === selected.name && (row.module ?? '') === selected.module
// A region that the program has marked itself: no function has it on its stack.
export const isZone = (selected: Selected) => selected.module === '[zones]'
export const chosen = (row: Named): Selected => ({ name: row.name, module: row.module ?? '' })

export interface State {
  view: View
  metric: string // '': the profile's own
  level: typeof LEVELS[number]
  collapse: typeof COLLAPSE[number]
  inverted: boolean
  beside: boolean // functions: the other metrics in columns beside
  drawn: boolean // a difference as a flame graph
  byOld: boolean // which is as wide as the old profile
  shares: boolean // of shares of the totals
  base: string // a difference: the selection of the store that is the old side; '': a file, if any
  now: string // and the new side; '': the page's profile
  listed: boolean // the call graph as a list, not as a picture
  filters: [string, string][] // in order; of time: ['time', 'FROM:TO']
  selected: Selected | null
  search: string
  sort: 'exclusive' | 'inclusive' | 'name' | 'module'
  span: Range | null // the time that lanes show; null: all
  folds: string[] // processes among the lanes that are not as at first, by pid
  bare: boolean // lanes without zones
  zoom: string[] // the functions from the root of the flame graph to the box that fills it
}

export const FIRST: State = {
  view: 'flame', metric: '', level: 'function', collapse: 'full', inverted: false, beside: false, listed: false, drawn: false, byOld: false, shares: false, base: '', now: '', filters: [], selected: null,
  search: '', sort: 'exclusive', span: null, folds: [], bare: false, zoom: [],
}

export function options(state: State): Options {
  const list: Options = state.filters.map(([name, value]) => [name, value])
  if (state.metric) list.push(['metric', state.metric])
  if (state.level !== 'function') list.push(['level', state.level])
  return list
}

// From and to, in ns.
export type Range = [number, number]

// The filters with that time in place of another; null: all time.
export const inTime = (filters: State['filters'], range: Range | null): State['filters'] =>
  [...filters.filter(([name]) => name !== 'time'), ...(range ? [['time', `${range[0]}ns:${range[1]}ns`] as [string, string]] : [])]

const TEXTS = ['metric', 'base', 'now', 'search'] as const
// What is on or off, and its name in the address.
const FLAGS = [['inverted', 'invert'], ['beside', 'beside'], ['listed', 'list'], ['drawn', 'drawn'], ['byOld', 'old'], ['shares', 'shares'], ['bare', 'bare']] as const

export function toFragment(state: State): string {
  const out = new URLSearchParams()
  if (state.view !== FIRST.view) out.set('view', state.view)
  for (const key of TEXTS) if (state[key]) out.set(key, state[key])
  if (state.level !== FIRST.level) out.set('level', state.level)
  if (state.collapse !== FIRST.collapse) out.set('collapse', state.collapse)
  for (const [key, name] of FLAGS) if (state[key]) out.set(name, '1')
  for (const [name, value] of state.filters) out.append(`f.${name}`, value)
  if (state.selected) {
    out.set('function', state.selected.name)
    if (state.selected.module) out.set('module', state.selected.module)
  }
  if (state.sort !== FIRST.sort) out.set('sort', state.sort)
  if (state.span) out.set('span', state.span.join(':'))
  for (const pid of state.folds) out.append('fold', pid)
  for (const name of state.zoom) out.append('zoom', name)
  return out.toString()
}

function one<T extends string>(value: string | null, known: readonly T[], otherwise: T): T {
  return known.includes(value as T) ? value as T : otherwise
}

function spanOf(text: string | null): Range | null {
  const [from, to] = (text ?? '').split(':').map(Number)
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from! && from! < to! ? [from!, to!] : null
}

export function fromFragment(fragment: string): State {
  const given = new URLSearchParams(fragment)
  const name = given.get('function')
  return {
    view: one(given.get('view'), VIEWS, FIRST.view),
    ...Object.fromEntries(TEXTS.map(key => [key, given.get(key) ?? ''])) as Record<typeof TEXTS[number], string>,
    level: one(given.get('level'), LEVELS, FIRST.level),
    collapse: one(given.get('collapse'), COLLAPSE, FIRST.collapse),
    ...Object.fromEntries(FLAGS.map(([key, name]) => [key, given.get(name) === '1'])) as Record<typeof FLAGS[number][0], boolean>,
    filters: [...given].filter(([key]) => key.startsWith('f.')).map(([key, value]) => [key.slice(2), value]),
    selected: name === null ? null : { name, module: given.get('module') ?? '' },
    sort: one(given.get('sort'), ['exclusive', 'inclusive', 'name', 'module'] as const, FIRST.sort),
    span: spanOf(given.get('span')),
    folds: given.getAll('fold'),
    zoom: given.getAll('zoom'),
  }
}

// The states before and after this one.
export class History {
  private readonly before: State[] = []
  private after: State[] = []

  constructor(public now: State) {}

  go(next: State): void {
    if (toFragment(next) === toFragment(this.now)) return
    this.before.push(this.now)
    this.after = []
    this.now = next
  }

  undo(): boolean {
    const state = this.before.pop()
    if (state === undefined) return false
    this.after.push(this.now)
    this.now = state
    return true
  }

  redo(): boolean {
    const state = this.after.pop()
    if (state === undefined) return false
    this.before.push(this.now)
    this.now = state
    return true
  }

  get canUndo(): boolean { return this.before.length > 0 }
  get canRedo(): boolean { return this.after.length > 0 }
}
