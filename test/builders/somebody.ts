import type { Caller } from "../../src/rpc/dispatcher.ts";

/** Asks, and waits for the answer. */
export const somebody: Caller = {
  connection: undefined,
  isForeignPage: false,
  remoteHost: "somewhere",
  client: {},
  isAbandoned: () => false,
};
