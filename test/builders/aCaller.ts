import type { Caller } from "../../src/rpc/caller.ts";

/** A local caller that waits for its answers. */
export const aCaller: Caller = {
  connection: undefined,
  isForeignPage: false,
  remoteHost: "somewhere",
  client: {},
  isAbandoned: () => false,
};
