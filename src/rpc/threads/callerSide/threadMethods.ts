import type { ChainView } from "../../../chain/view/chainView.ts";
import { decodeParams } from "../../decodeParams.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import type { Answer, CallContext, RpcMethod } from "../../method.ts";
import type { RpcBackend } from "../../ports.ts";
import { fromRemote } from "../remoteAnswer.ts";
import type { MainThread } from "./mainThread.ts";
import { callerNumbers } from "./mainThread.ts";

/**
 * The methods of a thread that answers callers:
 *
 *   no ports                          here
 *   ports that a thread has (LOCAL)   here, on a view of the newest head; what lasts, on a thread that can be terminated
 *   those and the pool                here; on the main thread when the pool is asked, as for what is not in a block
 *   others                            on the main thread
 */
export function threadMethods(
  methods: readonly RpcMethod[],
  { main, view }: { readonly main: MainThread; readonly view: Pick<ChainView, "isCurrent" | "refresh"> },
): readonly RpcMethod[] {
  const callerOf = callerNumbers();
  const waiter = { view, waiting: undefined as Promise<boolean> | undefined };

  return methods.map((method) => {
    const { name } = method;
    const place = placeOf(method);
    if (place === "anywhere") return method;

    async function forward(params: readonly unknown[], context: CallContext<RpcBackend>): Promise<Answer> {
      const request = { kind: "call", method: name, params, caller: callerOf(context) } as const;
      const answer = await main.ask(request, context);
      return answer === "busy" ? ERRORS.tooManyCalls : fromRemote(answer);
    }

    if (place === "main thread") {
      const overlap = method.isGuarded === true ? {} : { mayOverlap: method.mayOverlap ?? "many" };
      return { ...method, ...overlap, runUndecoded: forward };
    }

    function here(params: readonly unknown[], context: CallContext<RpcBackend>): Answer | Promise<Answer> {
      const values = decodeParams(method, params);
      if (values instanceof RpcError) return values;
      try {
        const answer = method.run(values, context);
        return answer instanceof Promise
          ? answer.catch((error: unknown) => elsewhere(error, params, context))
          : answer;
      } catch (error) {
        return elsewhere(error, params, context);
      }
    }

    function elsewhere(
      error: unknown,
      params: readonly unknown[],
      context: CallContext<RpcBackend>,
    ): Promise<Answer> {
      if (error instanceof NotOnThisThread) return forward(params, context);
      throw error;
    }

    return {
      ...method,
      runUndecoded(params, context) {
        if (view.isCurrent || view.refresh()) return here(params, context);
        waiter.waiting ??= refreshed(view).finally(() => {
          waiter.waiting = undefined;
        });
        return waiter.waiting.then((isCurrent) =>
          isCurrent ? here(params, context) : forward(params, context),
        );
      },
    };
  });
}

/** Where a method runs when threads answer; "thread and pool" asks the main thread for what is not in a block. */
export type MethodPlace = "anywhere" | "thread" | "thread and pool" | "main thread";

export function placeOf({ ports = [] }: Pick<RpcMethod, "ports">): MethodPlace {
  if (ports.length === 0) return "anywhere";
  const isHere = ports.every((port) => LOCAL.has(port)) && ports.some((port) => port !== "pool");
  if (!isHere) return "main thread";
  return ports.includes("pool") ? "thread and pool" : "thread";
}

/** Ports that a thread has itself, and the pool, which it has in name only. */
type LocalPort =
  | "chain"
  | "spec"
  | "clock"
  | "settings"
  | "simulator"
  | "stateQueries"
  | "tracer"
  | "prove"
  | "submit"
  | "gasPrices"
  | "feeHistory"
  | "inclusionWaits"
  | "findLogs"
  | "accounts"
  | "pool";
const LOCAL: ReadonlySet<keyof RpcBackend> = new Set<LocalPort>([
  "chain",
  "spec",
  "clock",
  "settings",
  "simulator",
  "stateQueries",
  "tracer",
  "prove",
  "submit",
  "gasPrices",
  "feeHistory",
  "inclusionWaits",
  "findLogs",
  "accounts",
  "pool",
]);

/**
 * The backend of a thread. Methods use the ports that they name and no others, so those that run here find what they need,
 * hence the cast.
 */
export function threadBackend(ports: Pick<RpcBackend, Exclude<LocalPort, "pool">>): RpcBackend {
  return { ...ports, pool: POOL_ELSEWHERE } as unknown as RpcBackend;
}

/** What a method asked for is on the main thread. */
class NotOnThisThread extends Error {
  override name = "NotOnThisThread";
}

/** A pool that is on the main thread. */
const POOL_ELSEWHERE: object = new Proxy(
  {},
  {
    get(): never {
      throw new NotOnThisThread("the pool is on the main thread");
    },
  },
);

/** Waits for the moment between the write of a block and the announcement of the head. False when it takes long. */
async function refreshed(view: Pick<ChainView, "refresh">): Promise<boolean> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  while (performance.now() < deadlineMs) {
    if (view.refresh()) return true;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return false;
}

/** Rewinds and repairs take longer; meanwhile the main thread answers. */
const LONGEST_WAIT_MS = 250;
