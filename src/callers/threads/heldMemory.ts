import { forServers, THREAD_SERVERS, type ThreadServerName } from "../../rpc/server/serverTable.ts";
import { createHostMemory, type HostMemory } from "../../rpc/server/sharedHosts.ts";
import { createTotalsMemory, type TotalsMemory } from "../../rpc/server/sharedTotals.ts";
import { MESSAGES } from "../../rpc/threads/messages.ts";
import { type CreditMemory, createCreditMemory } from "../../workers/channel/credit.ts";

/**
 * Memory of what callers have on all threads: connections, of those over WebSocket the ones of foreign pages, characters of large
 * messages that wait to be read, criteria of subscriptions, requests that wait for the main thread, their bytes, transactions
 * on which the pool has not decided, their bytes, and the rest.
 */
export interface HeldMemory extends Readonly<Record<ThreadServerName, HostMemory>> {
  readonly pages: HostMemory;
  readonly reading: HostMemory;
  readonly criteria: HostMemory;
  readonly requests: HostMemory;
  readonly requestBytes: HostMemory;
  readonly transactions: HostMemory;
  readonly transactionBytes: HostMemory;
  readonly totals: TotalsMemory;
  /** Counts what lies between the threads and the main thread. */
  readonly credits: CreditMemory;
}

export function createHeldMemory(threads: number): HeldMemory {
  return {
    ...forServers(THREAD_SERVERS, () => createHostMemory(threads)),
    pages: createHostMemory(threads),
    reading: createHostMemory(threads),
    criteria: createHostMemory(threads),
    requests: createHostMemory(threads),
    requestBytes: createHostMemory(threads),
    transactions: createHostMemory(threads),
    transactionBytes: createHostMemory(threads),
    totals: createTotalsMemory(threads),
    credits: createCreditMemory(MESSAGES, threads),
  };
}
