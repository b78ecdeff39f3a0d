import type { Gate } from "../access/gate.ts";
import type { Grant } from "../access/grant.ts";

/** Why a connection was closed then. */
export const TOKEN_OVER = "the token has expired";

/** Whether the token that opened the way to a connection's subscriptions counts no more (json-rpc-errors.md#authentication). */
export class TokenEnd {
  /** How many subscriptions the connection has. */
  subscriptions = 0;
  private readonly gate: Gate | undefined;
  /** Grant of the token, from the first message on. */
  private grant: Grant | undefined;

  constructor(gate: Gate | undefined) {
    this.gate = gate;
  }

  granted(grant: Grant | undefined): void {
    this.grant ??= grant?.expiresAtMs === undefined ? undefined : grant;
  }

  get isOver(): boolean {
    return this.grant !== undefined && this.gate?.maySubscribe(this.grant) === false;
  }
}
