import { MAX_WAITING_REQUESTS } from "./limits.ts";

/**
 * Questions wait here for their turn: one question at a time, each peer in turn, with room for others on the thread in
 * between. So a peer that asks without end delays itself most.
 */
export interface ServingQueue<Peer> {
  /** False when so many questions of this peer wait already. */
  post(peer: Peer, answer: () => void): boolean;
  forget(peer: Peer): void;
}

export function createServingQueue<Peer>(
  defer: (action: () => void) => void = setImmediate,
): ServingQueue<Peer> {
  /** In the order of their turns. */
  const waiting = new Map<Peer, (() => void)[]>();
  let isScheduled = false;

  function serveOne(): void {
    isScheduled = false;
    for (const [peer, questions] of waiting) {
      const answer = questions.shift();
      waiting.delete(peer);
      if (questions.length > 0) waiting.set(peer, questions);
      schedule();
      answer?.();
      return;
    }
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    defer(serveOne);
  }

  return {
    post(peer, answer) {
      const questions = waiting.get(peer) ?? [];
      if (questions.length >= MAX_WAITING_REQUESTS) return false;
      questions.push(answer);
      waiting.set(peer, questions);
      schedule();
      return true;
    },
    forget: (peer) => void waiting.delete(peer),
  };
}
