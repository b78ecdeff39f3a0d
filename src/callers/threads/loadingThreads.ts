import { availableParallelism } from "node:os";
import type { Settings } from "../../config/settings.ts";
import { CALLER_SERVERS, type CallerServerName } from "../../rpc/server/serverTable.ts";
import type { PostedFromThread } from "../../rpc/threads/messages.ts";
import { SupervisedThread, type SupervisedThreadUser } from "../../workers/supervisedThread.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { type DescriptorCopier, startDescriptorCopier } from "./descriptorCopier.ts";

/** Threads for callers that load their code while the node loads its own and opens: the first answer waits for both. */
export interface LoadingThreads {
  readonly threads: readonly LoadingThread[];
  /** Starts what copies the descriptors of their sockets, once; later than the threads, which need the cores longer. */
  startCopier(): DescriptorCopier;
  /** Ends them if the node does not open; also called when all has been closed. */
  close(): Promise<void>;
}

/** A thread that is used once the node is open. */
export class LoadingThread {
  readonly supervised: SupervisedThread<PostedFromThread>;
  /** Told of what happens to the thread; undefined while the node opens. */
  user: SupervisedThreadUser<PostedFromThread> | undefined;

  constructor() {
    this.supervised = new SupervisedThread<PostedFromThread>(
      { entry: workerEntry("rpcWorker"), ...MEMORY },
      {
        ready: () => this.user?.ready(),
        receive: (message) => this.user?.receive(message),
        died: (error) => this.user?.died(error),
      },
    );
  }
}

/** Limits of a thread's heap. */
const MEMORY = { heapMb: 512, youngMb: 48 };

/**
 * Starts the first of the threads that the settings want; undefined when nobody is answered. Others start when it answers, since
 * they would take the cores that it needs.
 */
export function loadRpcThreads(
  settings: Pick<Settings, CallerServerName | "rpc">,
): LoadingThreads | undefined {
  const { threads: count = threadsByCores() } = settings.rpc;
  if (CALLER_SERVERS.every((name) => settings[name] === undefined)) return undefined;
  const loading = threadsToLoad(count);
  loading.threads[0]?.supervised.start();
  return loading;
}

/** Threads that load their code when they begin. */
export function threadsToLoad(count: number): LoadingThreads {
  const threads = Array.from({ length: count }, () => new LoadingThread());
  let copier: DescriptorCopier | undefined;
  return {
    threads,
    startCopier() {
      copier ??= startDescriptorCopier();
      return copier;
    },
    async close() {
      copier?.close();
      await Promise.all(threads.map(({ supervised }) => supervised.close()));
    },
  };
}

/** Number of threads by default: one core is left to the thread that makes blocks. */
function threadsByCores(): number {
  return Math.max(2, availableParallelism() - 1);
}
