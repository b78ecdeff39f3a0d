import type { ChainView } from "../chain/view/chainView.ts";
import { CORE_CALLS } from "./core/coreCalls.ts";
import type { RpcMethod } from "./method.ts";
import type { RpcBackend } from "./ports.ts";

/** Ports that read nothing from the view: those of the core, and what does not change. */
const WITHOUT_VIEW: ReadonlySet<string> = new Set<string>([
  ...Object.keys(CORE_CALLS).map((call) => call.slice(0, call.indexOf("."))),
  ...(["spec", "clock", "settings"] satisfies (keyof RpcBackend)[]),
]);

/**
 * The methods of a thread that sees the chain through a view. One that reads the chain begins on the head that the process shows, so
 * that no caller is answered from an older one than another connection has seen.
 */
export function onNewestHead(methods: readonly RpcMethod[], newest: NewestHead): readonly RpcMethod[] {
  return methods.map((method) =>
    (method.ports ?? []).every((port) => WITHOUT_VIEW.has(port))
      ? method
      : {
          ...method,
          run: (params, context) => {
            const moved = newest.reach();
            return moved === undefined
              ? method.run(params, context)
              : moved.then(() => method.run(params, context));
          },
        },
  );
}

/** Moves a thread's view to the head that the process shows. */
export class NewestHead {
  private readonly view: Pick<ChainView, "isCurrent" | "refresh">;
  /** The move in progress, for which all calls wait together. */
  private moving: Promise<void> | undefined;

  constructor(view: Pick<ChainView, "isCurrent" | "refresh">) {
    this.view = view;
  }

  /** Undefined when the view is there; otherwise resolves once it is. */
  reach(): Promise<void> | undefined {
    if (this.view.isCurrent || this.view.refresh()) return undefined;
    this.moving ??= this.move().finally(() => {
      this.moving = undefined;
    });
    return this.moving;
  }

  /** Waits for the moment between the write of a block and the announcement of the head, or of a step of a rewind. */
  private async move(): Promise<void> {
    while (!this.view.refresh()) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

const RETRY_MS = 1;
