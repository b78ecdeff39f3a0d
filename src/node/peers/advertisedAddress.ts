import { lookup } from "node:dns/promises";
import { existsSync, readFileSync } from "node:fs";
import type { NatSettings } from "../../config/natSettings.ts";
import type { Logger } from "../../observability/logger.ts";

/** Where others reach this node (options.md#announced-address). */
export interface AdvertisedAddress {
  /** IP address or host name. */
  readonly host: string;
  /** The port that others call, for one that this node listens on. */
  portOf(port: number): number;
  /** Where the host is from, for the log. */
  readonly source: "p2p-host" | "HOST_IP";
}

/** The machine that this program runs on. */
interface HostMachine {
  isInDocker(): boolean;
  /** The IP address of a host name; undefined when there is none. */
  addressOf(name: string): Promise<string | undefined>;
}

/**
 * In a Docker container others call the container's host: its address is that of the host name HOST_IP
 * (docker run --add-host HOST_IP:<address>), and its ports are those of the variables HOST_PORT_<port>, as with Besu.
 */
export async function findAdvertisedAddress(
  { advertisedHost, nat }: { readonly advertisedHost: string; readonly nat: NatSettings },
  { machine = HOST, logger }: { readonly machine?: HostMachine; readonly logger: Logger },
): Promise<AdvertisedAddress> {
  const asGiven = { host: advertisedHost, portOf: (port: number) => port, source: "p2p-host" } as const;
  const isDocker = nat.method === "DOCKER" || (nat.method === "AUTO" && machine.isInDocker());
  if (!isDocker) return asGiven;
  const portOf = (port: number): number => nat.hostPorts.get(port) ?? port;
  const ip = await machine.addressOf("HOST_IP");
  if (ip !== undefined) return { host: ip, portOf, source: "HOST_IP" };
  if (nat.method === "DOCKER") {
    logger.warn(
      { host: advertisedHost },
      "the host name HOST_IP has no address: --p2p-host is announced; give the container --add-host HOST_IP:<address>, or set --p2p-host and --nat-method=NONE",
    );
  }
  return { ...asGiven, portOf };
}

/** Says in the log what others are told, and what to set where the enode URL is of no use to other machines. */
export function reportAddress(
  enode: string,
  {
    host,
    source,
    listensOn,
    isFound,
    logger,
  }: Pick<AdvertisedAddress, "host" | "source"> & {
    /** Address of the socket. */
    readonly listensOn: string;
    /** Whether others look for this node: discovery is on, and this is no development network. */
    readonly isFound: boolean;
    readonly logger: Logger;
  },
): void {
  logger.info({ enode, source }, "this node announces this address to others");
  if (isFound && LOOPBACK.includes(host) && UNSPECIFIED.includes(listensOn)) {
    logger.info(
      { host },
      "this enode URL works on this machine only: nodes that discovery finds see the address that this node's datagrams come from, but an enode URL for bootnodes or static nodes needs --p2p-host",
    );
  }
}

const LOOPBACK = ["127.0.0.1", "::1", "localhost"];
const UNSPECIFIED = ["0.0.0.0", "::"];

const HOST: HostMachine = {
  isInDocker() {
    if (existsSync("/.dockerenv")) return true;
    try {
      return readFileSync("/proc/1/cgroup", "utf8").includes("docker");
    } catch {
      return false;
    }
  },
  addressOf: (name) => addressOf(name),
};

/**
 * The IP address of a host name, of this family if one is given; undefined when there is none, or no name server answers in
 * time.
 */
export async function addressOf(name: string, family: 0 | 4 = 0): Promise<string | undefined> {
  const found = lookup(name, { family }).then(
    ({ address }) => address,
    () => undefined,
  );
  return await Promise.race([found, after(LOOKUP_MS)]);
}

/** A start does not wait longer for a name server that does not answer. */
const LOOKUP_MS = 2000;

function after(waitMs: number): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), waitMs).unref());
}
