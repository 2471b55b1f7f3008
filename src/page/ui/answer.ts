// Answers that follow what is asked: the last one stays until the next is there.

import { useLayoutEffect, useState } from 'preact/hooks'
import { Cancelled } from './session'

export interface Answer<T> {
  value: T | null
  error: string
  busy: boolean // the value is of what was asked before, or there is none yet
}

// key: what is asked, as text.  ask: null if nothing is.
export function useAnswer<T>(key: string, ask: () => Promise<T> | null): Answer<T> {
  const [answer, setAnswer] = useState<{ of: string | null; value: T | null; error: string }>({ of: null, value: null, error: '' })
  // Asked before the page is painted, so that the worker computes meanwhile.
  useLayoutEffect(() => {
    let current = true
    const promise = ask()
    if (promise === null) {
      setAnswer({ of: key, value: null, error: '' })
      return
    }
    promise.then(
      value => { if (current) setAnswer({ of: key, value, error: '' }) },
      error => { if (current) setAnswer(last => error instanceof Cancelled ? { ...last, of: key } : { of: key, value: null, error: error.message }) })
    return () => { current = false }
  }, [key])
  return { value: answer.value, error: answer.error, busy: answer.of !== key }
}
