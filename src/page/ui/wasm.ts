// The module of src/page/module.c: its memory, and the four system calls that it needs.

export interface Exports {
  memory: WebAssembly.Memory
  _initialize(): void
  page_alloc(size: number): number
  page_free(at: number): void
  page_open(data: number, size: number, name: number, place: number): void
  page_code(data: number, size: number, profile: number): void
  page_ask(text: number, size: number): void
  page_reply(): number
  page_reply_size(): number
}

// The module ends its process where a program would: for lack of memory, or a broken assertion.
export class Ended extends Error {}

const EBADF = 8

export class Module {
  private constructor(private readonly exports: Exports) {}

  static async start(compiled: WebAssembly.Module): Promise<Module> {
    let said = ''
    let memory: WebAssembly.Memory
    const system = {
      fd_write(_fd: number, pieces: number, count: number, written: number): number {
        const view = new DataView(memory.buffer)
        let total = 0
        for (let i = 0; i < count; i++) {
          const at = view.getUint32(pieces + 8 * i, true), size = view.getUint32(pieces + 8 * i + 4, true)
          said += new TextDecoder().decode(new Uint8Array(memory.buffer, at, size))
          total += size
        }
        view.setUint32(written, total, true)
        return 0
      },
      fd_close: () => EBADF,
      fd_seek: () => EBADF,
      proc_exit(): never {
        throw new Ended(said.trim() || 'sonde ended')
      },
    }
    const names = WebAssembly.Module.imports(compiled).map(i => i.name)
    const imports = Object.fromEntries(names.map(n => [n, (system as Record<string, unknown>)[n] ?? (() => EBADF)]))
    const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: imports as never })
    const exports = instance.exports as unknown as Exports
    memory = exports.memory
    exports._initialize()
    return new Module(exports)
  }

  private put(bytes: Uint8Array): number {
    const at = this.exports.page_alloc(bytes.length)
    if (at === 0) throw new Ended('out of memory')
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes)
    return at
  }

  // A copy, since the memory of the module moves when it grows.
  private reply(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, this.exports.page_reply(), this.exports.page_reply_size()).slice()
  }

  open(bytes: Uint8Array, name: string, place: number): Uint8Array {
    const data = this.put(bytes), text = this.put(new TextEncoder().encode(name + '\0'))
    this.exports.page_open(data, bytes.length, text, place)
    this.exports.page_free(text)
    return this.reply()
  }

  carry(code: Uint8Array, profile: number): Uint8Array {
    this.exports.page_code(this.put(code), code.length, profile)
    return this.reply()
  }

  ask(request: unknown): Uint8Array {
    const bytes = new TextEncoder().encode(JSON.stringify(request))
    const at = this.put(bytes)
    this.exports.page_ask(at, bytes.length)
    this.exports.page_free(at)
    return this.reply()
  }

  get bytes(): number {
    return this.exports.memory.buffer.byteLength
  }
}
