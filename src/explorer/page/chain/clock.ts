import { useEffect, useReducer, useRef } from "preact/hooks";

const TICK_MS = 1_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls `listener` each second; one timer serves all listeners, as long as there are any. */
function onTick(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const tick of listeners) tick();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The result of `read` for the current time, each second; renders again when it changes. */
export function useClock<T extends string | number>(read: (nowMs: number) => T): T {
  const value = read(Date.now());
  const shown = useRef({ read, value });
  shown.current = { read, value };
  const [, renderAgain] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(
    () =>
      onTick(() => {
        if (shown.current.read(Date.now()) !== shown.current.value) renderAgain();
      }),
    [],
  );
  return value;
}
