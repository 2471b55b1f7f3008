// The size of an element on the page, which changes with the window.

import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

export function useSize(element: RefObject<HTMLElement>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    const observer = new ResizeObserver(() => setSize({ width: current!.clientWidth, height: current!.clientHeight }))
    observer.observe(current!)
    return () => observer.disconnect()
  }, [])
  return size
}
