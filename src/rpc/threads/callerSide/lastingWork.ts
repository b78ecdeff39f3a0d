import type { Simulator } from "../../../execution/simulation/callRequest.ts";
import type {
  StateQuery,
  StateQueryResult,
  StateQueryRunner,
} from "../../../execution/simulation/stateQuery.ts";
import type { FindLogs } from "../../../logs/findLogs.ts";
import type { Tracer } from "../../../tracers/traceJob.ts";
import { callerNumbers, type MainThread } from "./mainThread.ts";

/** What lasts longer than a thread may work on for one caller. */
export interface LastingWork {
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  readonly findLogs: FindLogs;
}

/**
 * Has the work done on threads that can be terminated. Jobs go through the main thread's queues, where those of all threads wait in
 * turn by machine and connection, and are bounded together; what they find is handed on without a copy.
 */
export function createLastingWork(main: Pick<MainThread, "ask">): LastingWork {
  const callerOf = callerNumbers();
  return {
    simulator: {
      async run(job, requester) {
        const result = await main.ask({ kind: "simulate", job, caller: callerOf(requester) }, requester);
        return result === "busy" ? BUSY : result;
      },
    },
    stateQueries: {
      async query<Job extends StateQuery>(
        job: Job,
        requester: Parameters<StateQueryRunner["query"]>[1],
      ): Promise<StateQueryResult<Job>> {
        const result = await main.ask({ kind: "query", job, caller: callerOf(requester) }, requester);
        // A query is answered with a result of its kind, hence the cast.
        return result === "busy" ? BUSY : (result as StateQueryResult<Job>);
      },
    },
    tracer: {
      async run(job, requester) {
        const result = await main.ask({ kind: "trace", job, caller: callerOf(requester) }, requester);
        return result === "busy" ? BUSY : result;
      },
    },
    async findLogs(criteria, range, requester) {
      // Criteria as they are, without the tags of the filter that they came with.
      const { addresses, topics } = criteria;
      const request = {
        kind: "logs",
        criteria: { addresses, topics },
        range,
        caller: callerOf(requester),
      } as const;
      const result = await main.ask(request, requester);
      return result === "busy" ? BUSY : result;
    },
  };
}

const BUSY = { kind: "busy" } as const;
