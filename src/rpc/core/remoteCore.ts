import type { Requester } from "../../primitives/requester.ts";
import { BlockRemoved } from "../../types/blockRemoved.ts";
import { StateRemoved } from "../../types/stateRemoved.ts";
import type { RequestSender } from "../../workers/channel/requestSender.ts";
import { seal } from "../../workers/sealed.ts";
import type { TransactionSender } from "../threads/callerSide/transactionSender.ts";
import type { CoreOutcome, CoreRequest, RemoteCaller } from "../threads/protocol.ts";
import type { Core } from "./core.ts";
import { CORE_CALLS, type RequestedCallName } from "./coreCalls.ts";
import { TooManyRequests } from "./tooManyRequests.ts";

/**
 * The core as a thread for callers has it: each call is a request to the main thread (threads/mainSide/requestHost.ts), except that
 * transactions go to it together (threads/mainSide/admitPacked.ts).
 */
export function createRemoteCore(
  main: Pick<RequestSender<CoreRequest, CoreOutcome>, "ask">,
  transactions: Pick<TransactionSender, "submit">,
): Core {
  const callerOf = callerNumbers();

  function remoteCall(call: RequestedCallName) {
    return async (...given: readonly unknown[]): Promise<unknown> => {
      // The last argument of each call of the core, hence the cast.
      const requester = given.at(-1) as Requester;
      const rules = CORE_CALLS[call];
      const args = rules.sealsJob === true ? sealed(given.slice(0, -1)) : given.slice(0, -1);
      const request = { call, args, caller: callerOf(requester) };
      const outcome = await main.ask(request, requester, requester.remoteHost);
      if (outcome !== "busy") return resultOf(outcome);
      if ("whenBusy" in rules) return rules.whenBusy;
      throw new TooManyRequests(`too many requests wait for the main thread: ${call} is refused`);
    };
  }

  const submit: Core["pool"]["submit"] = (raw, { remoteHost }) => transactions.submit(raw, remoteHost);
  const core: Record<string, Record<string, unknown>> = { pool: { submit } };
  for (const call of Object.keys(CORE_CALLS) as RequestedCallName[]) {
    const [group = "", name = ""] = call.split(".");
    core[group] ??= {};
    core[group][name] = remoteCall(call);
  }
  // The table names every other call of every group, hence the cast.
  return core as unknown as Core;
}

function sealed([job, ...others]: readonly unknown[]): readonly unknown[] {
  // The first argument of a call with this rule is a job, hence the cast.
  return [seal(job as object), ...others];
}

function resultOf(outcome: CoreOutcome): unknown {
  if ("call" in outcome) return outcome.result;
  throw outcome.removed === "block" ? new BlockRemoved(outcome.number) : new StateRemoved(outcome.number);
}

/** Numbers the connections of a thread. */
function callerNumbers(): (requester: Requester) => RemoteCaller {
  const numbers = new WeakMap<object, number>();
  let newest = 0;
  return ({ client, remoteHost }) => {
    let number = numbers.get(client);
    if (number === undefined) {
      number = ++newest;
      numbers.set(client, number);
    }
    return { client: number, remoteHost };
  };
}
