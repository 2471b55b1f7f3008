// The worker: holds the module, and answers one message at a time.

import { Ended, Module } from './wasm'

export type ToWorker =
  | { id: number; start: WebAssembly.Module }
  | { id: number; open: Uint8Array; name: string; place: number }
  | { id: number; code: Uint8Array; profile: number }
  | { id: number; ask: unknown }
export type FromWorker = { id: number; bytes: Uint8Array } | { id: number; ended: string }

let module: Module | null = null

async function answer(message: ToWorker): Promise<Uint8Array> {
  if ('start' in message) {
    module = await Module.start(message.start)
    return new Uint8Array()
  }
  if (module === null) throw new Ended('the module has not started')
  if ('code' in message) return module.carry(message.code, message.profile)
  return 'open' in message ? module.open(message.open, message.name, message.place) : module.ask(message.ask)
}

self.onmessage = async (event: MessageEvent<ToWorker>) => {
  const { id } = event.data
  try {
    const bytes = await answer(event.data)
    self.postMessage({ id, bytes } satisfies FromWorker, { transfer: [bytes.buffer] })
  } catch (error) {
    // A trap leaves the module in no known state: the page starts another worker.
    const text = error instanceof Ended ? error.message : `the module failed: ${error}`
    self.postMessage({ id, ended: text } satisfies FromWorker)
  }
}
