import type { Requester } from "../../primitives/requester.ts";

/** Asks for what a server needs for no single caller, or what is limited elsewhere, such as log-ins. */
export const SERVER_ITSELF: Requester = { remoteHost: "", client: {}, isAbandoned: () => false };
