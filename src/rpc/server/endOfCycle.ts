/**
 * Sends answers in one go at the end of the present cycle of the event loop. A client that sleeps is woken by the first of them
 * and finds the others, instead of being woken for each: that costs more than a small answer, above all in a virtual machine,
 * and the thread goes on with cold caches. An answer alone in its cycle waits for nothing.
 */
export function atEndOfCycle(send: () => void): void {
  const nowMs = performance.now();
  if (waiting.length === 0) {
    setImmediate(sendAll);
    beganMs = nowMs;
  }
  waiting.push(send);
  if (nowMs - beganMs > LONGEST_WAIT_MS) sendAll();
}

/** Longest time that the first answer waits for others of its cycle, besides the one that is being made. */
const LONGEST_WAIT_MS = 1;

let waiting: (() => void)[] = [];
let beganMs = 0;

function sendAll(): void {
  const sends = waiting;
  waiting = [];
  for (const send of sends) send();
}
