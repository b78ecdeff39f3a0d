import type { Address } from "../../primitives/address.ts";
import type { MessageObserver } from "../messageObserver.ts";
import type { Frame } from "./frame.ts";
import type { FrameEnd, Watch } from "./watch.ts";

/** Reports to an observer of messages, while the core runs as without one. */
export class MessageWatch implements Watch {
  private readonly observer: MessageObserver;

  constructor(observer: MessageObserver) {
    this.observer = observer;
  }

  paid(): void {
    // Not every message that is paid for begins.
  }

  entered({ caller, kind, sender, codeAddress }: Frame): void {
    this.observer.entered({
      isCreation: kind === "create",
      from: caller?.address ?? sender,
      to: codeAddress,
    });
  }

  ranNothing(): void {
    // The observer has seen the message enter, and will see it leave.
  }

  destroyed(from: Address, to: Address): void {
    this.observer.destroyed(from, to);
  }

  left(_frame: Frame, { hasReverted, halt }: FrameEnd): void {
    this.observer.left(!hasReverted && halt === undefined);
  }
}
