import type { ChainView } from "../chain/view/chainView.ts";
import { CORE_CALLS } from "./core/coreCalls.ts";
import type { RpcMethod } from "./method.ts";
import type { RpcBackend } from "./ports.ts";

/** Ports that read nothing from the view: those of the core, and what does not change. */
const WITHOUT_VIEW: ReadonlySet<string> = new Set<string>([
  ...Object.keys(CORE_CALLS).map((call) => call.slice(0, call.indexOf("."))),
  ...(["spec", "clock", "settings", "submit"] satisfies (keyof RpcBackend)[]),
]);

/**
 * The methods of a thread that sees the chain through a view. One that reads the chain begins on the head that the process shows, so
 * that no caller is answered from an older one than another connection has seen.
 */
export function onNewestHead(
  methods: readonly RpcMethod[],
  view: Pick<ChainView, "isCurrent" | "refresh">,
): readonly RpcMethod[] {
  let moving: Promise<void> | undefined;

  /** Resolves once the view has moved; one wait serves all calls. */
  function moved(): Promise<void> {
    moving ??= refreshed(view).finally(() => {
      moving = undefined;
    });
    return moving;
  }

  return methods.map((method) =>
    (method.ports ?? []).every((port) => WITHOUT_VIEW.has(port))
      ? method
      : {
          ...method,
          run: (params, context) =>
            view.isCurrent || view.refresh()
              ? method.run(params, context)
              : moved().then(() => method.run(params, context)),
        },
  );
}

/** Waits for the moment between the write of a block and the announcement of the head, or of a step of a rewind. */
async function refreshed(view: Pick<ChainView, "refresh">): Promise<void> {
  while (!view.refresh()) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

const RETRY_MS = 1;
