// What the page carries: the module, packed with gzip, the profile's bytes, and perhaps code, all in
// base64.  Long ones go on in further elements.

import { fieldsOf, selectionOf } from './selection'
import { Refused, type About, type CodeReport, type Options, type Session } from './session'

export interface Given {
  profile: number
  about: About
  served?: string // the profile's name at the server that sent the page
  selection?: string // which it is of a store, of which that server has others, as selectionOf writes it
}

const CODE = new Uint8Array(128)
for (let i = 0; i < 64; i++) CODE['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i

const sizeOf = (text: string) => (text.length >> 2) * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

// Puts the bytes at that place of `bytes`.
function putBase64(text: string, bytes: Uint8Array, at: number): void {
  // Browsers since 2025, ten times as fast.
  const place = bytes.subarray(at) as Uint8Array & { setFromBase64?(text: string): void }
  if (place.setFromBase64) return place.setFromBase64(text)
  for (let i = 0; i < text.length; i += 4) {
    const word = CODE[text.charCodeAt(i)]! << 18 | CODE[text.charCodeAt(i + 1)]! << 12 | (CODE[text.charCodeAt(i + 2)] ?? 0) << 6 | (CODE[text.charCodeAt(i + 3)] ?? 0)
    bytes[at++] = word >> 16
    if (at < bytes.length) bytes[at++] = word >> 8
    if (at < bytes.length) bytes[at++] = word
  }
}

// What begins in the element of that id; takes it out of the page.
function takeCarried(id: string): Uint8Array {
  const texts: string[] = []
  let element = document.getElementById(id)
  while (element) {
    const next = element.nextElementSibling
    texts.push(element.textContent!.trim())
    element.remove()
    element = next?.matches('.more') ? next as HTMLElement : null
  }
  const bytes = new Uint8Array(texts.reduce((size, text) => size + sizeOf(text), 0))
  let at = 0
  for (const text of texts) {
    putBase64(text, bytes, at)
    at += sizeOf(text)
  }
  return bytes
}

export async function loadCompiled(): Promise<WebAssembly.Module> {
  const packed = takeCarried('module')
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(stream).arrayBuffer())
}

// The profile that the page was written with; null: none, it is to be dropped.
export async function loadFiles(session: Session): Promise<Given | null> {
  // It comes after the script, so that the module is compiled meanwhile.
  if (document.readyState === 'loading') await new Promise(parsed => document.addEventListener('DOMContentLoaded', parsed))
  const data = document.getElementById('data')
  const bytes = takeCarried('data')
  if (!data || bytes.length === 0) return null
  const name = data.dataset.name ?? 'profile'
  const profile = await session.open(bytes, name)
  // What `sonde report` was asked for, unless the address already says what to show.
  if (data.dataset.state && location.hash.length < 2) history.replaceState(null, '', `#${data.dataset.state}`)
  const code = takeCarried('code')
  if (code.length > 0) await session.carry(profile, code)
  document.title = `${name} – sonde`
  return { profile, about: await session.about(profile), ...(data.dataset.served ? { served: data.dataset.served } : {}), ...(data.dataset.selection ? { selection: selectionOf(fieldsOf(data.dataset.selection)) } : {}) }
}

// Selections that were fetched, the one that was used last at the end.  Of more than these, the first gives its place to the next.
const fetched = new Map<string, { profile: Promise<number>; place?: number }>()
const FETCHED_MAX = 4

async function fetchSelection(session: Session, selection: string): Promise<number> {
  const response = await fetch(`recording?${new URLSearchParams([['select', selection]])}`, { signal: session.stop.signal })
  if (!response.ok) throw new Error(`${selection}: ${(await response.text()).trim()}`)
  const bytes = new Uint8Array(await response.arrayBuffer()), first = fetched.size > FETCHED_MAX ? [...fetched].find(([, f]) => f.place !== undefined) : undefined
  if (first) fetched.delete(first[0])
  return session.open(bytes, selection, first?.[1].place)
}

// The profile of a selection of the page's store.
export async function loadSelection(session: Session, given: Given, selection: string): Promise<number> {
  if (selection === given.selection) return given.profile
  const it = fetched.get(selection) ?? { profile: fetchSelection(session, selection) }
  fetched.delete(selection)
  fetched.set(selection, it)
  try {
    return it.place = await it.profile
  } catch (error) {
    fetched.delete(selection)
    const { name, message } = error as Error
    // A cancelled one leaves no other in its place.
    throw new Refused(name === 'AbortError' ? 'cancelled' : name === 'TypeError' ? 'sonde serve does not answer' : message)
  }
}

// One function's code: of the server, which answers as `sonde annotate`, or as far as it is here.
export async function loadCode(session: Session, given: Given, options: Options, name: string): Promise<CodeReport> {
  if (given.served === undefined) return session.annotate(given.profile, options, name)
  const query = new URLSearchParams([['profile', given.served], ['function', name], ...options.map(([key, value]) => [key, value ?? ''])])
  const response = await fetch(`annotate?${query}`)
  if (!response.ok) throw new Refused((await response.text()).trim())
  return response.json() as Promise<CodeReport>
}
