import { NAMESPACES } from "../../src/rpc/method.ts";

const OF_DEVELOPMENT: readonly string[] = ["EVM", "HARDHAT", "ANVIL"];

/** The groups that any network may have. */
export const NETWORK_NAMESPACES = NAMESPACES.filter((namespace) => !OF_DEVELOPMENT.includes(namespace));
