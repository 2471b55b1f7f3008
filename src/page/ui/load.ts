// What the page carries: the module, packed with gzip, the profile's bytes, and perhaps code, all in
// base64.

import { Refused, type About, type CodeReport, type Options, type Session } from './session'

export interface Given {
  profile: number
  about: About
  served?: string // the profile's name at the server that sent the page
}

const CODE = new Uint8Array(128)
for (let i = 0; i < 64; i++) CODE['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i

export function fromBase64(text: string): Uint8Array {
  const clean = text.trim()
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((clean.length >> 2) * 3 - padding)
  for (let i = 0, at = 0; i < clean.length; i += 4) {
    const word = CODE[clean.charCodeAt(i)]! << 18 | CODE[clean.charCodeAt(i + 1)]! << 12 | (CODE[clean.charCodeAt(i + 2)] ?? 0) << 6 | (CODE[clean.charCodeAt(i + 3)] ?? 0)
    bytes[at++] = word >> 16
    if (at < bytes.length) bytes[at++] = word >> 8
    if (at < bytes.length) bytes[at++] = word
  }
  return bytes
}

export async function loadCompiled(): Promise<WebAssembly.Module> {
  const packed = fromBase64(document.getElementById('module')!.textContent!)
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(stream).arrayBuffer())
}

// The profile that the page was written with; null: none, it is to be dropped.
export async function loadFiles(session: Session): Promise<Given | null> {
  const data = document.getElementById('data')
  const text = data?.textContent?.trim()
  if (!data || !text) return null
  const name = data.dataset.name ?? 'profile'
  const profile = await session.open(fromBase64(text), name)
  // What `sonde report` was asked for, unless the address already says what to show.
  if (data.dataset.state && location.hash.length < 2) history.replaceState(null, '', `#${data.dataset.state}`)
  const code = document.getElementById('code')!.textContent!.trim()
  if (code) await session.carry(profile, fromBase64(code))
  data.remove()
  document.title = `${name} – sonde`
  return { profile, about: await session.about(profile), ...(data.dataset.served ? { served: data.dataset.served } : {}) }
}

// One function's code: of the server, which answers as `sonde annotate`, or as far as it is here.
export async function loadCode(session: Session, given: Given, options: Options, name: string): Promise<CodeReport> {
  if (given.served === undefined) return session.annotate(given.profile, options, name)
  const query = new URLSearchParams([['profile', given.served], ['function', name], ...options.map(([key, value]) => [key, value ?? ''])])
  const response = await fetch(`annotate?${query}`)
  if (!response.ok) throw new Refused((await response.text()).trim())
  return response.json() as Promise<CodeReport>
}
