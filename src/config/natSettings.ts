import type { Environment } from "./environment.ts";
import type { OptionValues } from "./options.ts";

/** How the announced address is found (options.md#announced-address). */
export interface NatSettings {
  readonly method: "NONE" | "DOCKER" | "AUTO";
  /** Ports of the container's host, by those of this node: the variables HOST_PORT_<port>. */
  readonly hostPorts: ReadonlyMap<number, number>;
}

export function natSettings(values: OptionValues, environment: Environment): NatSettings {
  const method = values["nat-method"];
  // Kubernetes comes before Docker, as in Besu, but its services are not read here.
  const isInKubernetes = (environment["KUBERNETES_SERVICE_HOST"] ?? "") !== "";
  const isAutomatic = method === "AUTO" && !isInKubernetes;
  return {
    method: method === "DOCKER" ? method : isAutomatic ? "AUTO" : "NONE",
    hostPorts: hostPorts(environment),
  };
}

/** What this node does not do of the chosen method; undefined when it does all. */
export function missingNat(values: OptionValues): string | undefined {
  const missing = MISSING[values["nat-method"]];
  return (
    missing &&
    `--nat-method=${values["nat-method"]} is not supported: this node does not ${missing}. Set --p2p-host to the address at which others reach this node, forward --p2p-port (TCP and UDP) to it under the same number, and set --nat-method=NONE.`
  );
}

const MISSING: Readonly<Record<OptionValues["nat-method"], string | undefined>> = {
  NONE: undefined,
  AUTO: undefined,
  DOCKER: undefined,
  KUBERNETES: "ask Kubernetes for the address of a service",
  UPNP: "ask a router to forward ports",
  UPNPP2PONLY: "ask a router to forward ports",
};

function hostPorts(environment: Environment): ReadonlyMap<number, number> {
  const ports = new Map<number, number>();
  for (const [name, value = ""] of Object.entries(environment)) {
    const [, port] = /^HOST_PORT_(\d{1,5})$/.exec(name) ?? [];
    if (port !== undefined && /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) <= 65_535)
      ports.set(Number(port), Number(value));
  }
  return ports;
}
