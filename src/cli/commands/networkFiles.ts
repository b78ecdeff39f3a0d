import { isNamedHost, type NetworkPlan, type PlannedNode, titleOf } from "./networkPlan.ts";

/**
 * The files with which each node of a new network starts, by their paths from the network's folder:
 *
 *     nodes/<name>/static-nodes.json        the validators' enode URLs
 *     nodes/<name>/node.toml                its configuration
 *     nodes/<name>/ibex-<name>.service      its unit of systemd
 *     compose.yaml                          all of them in containers
 *
 * `unit` is config/ibex.service, from which the units are made.
 */
export function networkFiles(plan: NetworkPlan, unit: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const node of plan.nodes) {
    const folder = `nodes/${node.name}`;
    files.set(`${folder}/static-nodes.json`, `${JSON.stringify(plan.enodes, undefined, 2)}\n`);
    files.set(`${folder}/node.toml`, configurationOf(node, plan));
    files.set(`${folder}/ibex-${node.name}.service`, unitOf(node, unit));
  }
  files.set("compose.yaml", composeFile(plan));
  return files;
}

function configurationOf(node: PlannedNode, { nodes, genesisFile, minGasPriceWei }: NetworkPlan): string {
  const { ports, host, keyFile } = node;
  const isValidator = node.validator !== undefined;
  const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(", ");
  const key = keyFile === undefined ? [] : [`node-private-key-file = ${JSON.stringify(`../../${keyFile}`)}`];
  return lines([
    `# ${titleOf(node)}. Run it from this folder: ibex --config-file=node.toml`,
    `genesis-file = ${JSON.stringify(`../../${genesisFile}`)}`,
    ...key,
    ...(isValidator && keyFile === undefined ? ["# Its private key has to be in data/key."] : []),
    'data-path = "data"',
    "",
    ...(minGasPriceWei === undefined
      ? []
      : [
          "# The lowest gas price in blocks, in wei. It must be the same on all nodes, and no more than what clients offer that",
          "# only look at the base fee and at earlier blocks: a price that one node suggests must be enough for the others.",
          `min-gas-price = ${minGasPriceWei}`,
          "",
        ]),
    "# Peers: all nodes are connected to all validators. To let others join, turn on discovery.",
    'static-nodes-file = "static-nodes.json"',
    "discovery-enabled = false",
    `p2p-port = ${ports.peers}`,
    ...(isNamedHost(node) ? [] : [`p2p-host = "${host}"`]),
    ...(nodes.some(isNamedHost) ? ["Xdns-enabled = true", "Xdns-update-enabled = true"] : []),
    "",
    isValidator
      ? "# JSON-RPC for the operator, only on this host: IBFT has the votes on validators."
      : "# JSON-RPC, only on this host unless rpc-http-host and rpc-ws-host say otherwise.",
    "rpc-http-enabled = true",
    `rpc-http-port = ${ports.http}`,
    `rpc-http-api = [${quoted(["ETH", "NET", "WEB3", "TXPOOL", ...(isValidator ? ["IBFT"] : [])])}]`,
    ...(isValidator ? [] : ["rpc-ws-enabled = true", `rpc-ws-port = ${ports.webSocket}`]),
    `host-allowlist = [${quoted([...new Set(["localhost", "127.0.0.1", host])])}]`,
    "",
    "# For Prometheus, with metrics-host if it is on another host.",
    "metrics-enabled = true",
    `metrics-port = ${ports.metrics}`,
  ]);
}

/** The unit of a node whose network's folder was copied to /etc/ibex. systemd passes the key to it. */
function unitOf({ name, keyFile }: PlannedNode, unit: string): string {
  const service = `ibex-${name}`;
  const key = keyFile === undefined ? "" : "--node-private-key-file=%d/key ";
  const start = `ExecStart=/usr/bin/ibex --config-file=node.toml ${key}--data-path=/var/lib/${service}`;
  const credential = keyFile === undefined ? "" : `\nLoadCredential=key:/etc/ibex/${keyFile}`;
  const body = unit
    .slice(unit.indexOf("[Unit]"))
    .replace(/^ExecStart=.*$/m, `${start}${credential}`)
    .replace(/^WorkingDirectory=.*$/m, `WorkingDirectory=/etc/ibex/nodes/${name}`)
    .replace(/^(SyslogIdentifier|StateDirectory)=ibex$/gm, `$1=${service}`)
    .replace(/^Description=.*$/m, `Description=Ibex, ${name}`);
  return `# The network's folder has to be /etc/ibex: systemctl enable --now /etc/ibex/nodes/${name}/${service}.service\n${body}`;
}

function composeFile(plan: NetworkPlan): string {
  const { nodes, isInContainers } = plan;
  return lines([
    "# The nodes of this network in containers, from the image that the Dockerfile of Ibex builds. User 1000 of the containers",
    "# has to be able to read this folder: chown -R 1000 keys",
    ...(isInContainers
      ? ["#", "#     docker compose up"]
      : [
          "# Each node belongs to its own host and uses that one's ports: on each one, with a copy of this folder,",
          "#",
          `#     docker compose up ${nodes[0]?.name}`,
        ]),
    "services:",
    ...nodes.flatMap((node) => composeService(node, isInContainers)),
    "volumes:",
    ...nodes.map(({ name }) => `  ${name}:`),
  ]);
}

function composeService({ name, ports }: PlannedNode, isInContainers: boolean): readonly string[] {
  const everywhere = ["--rpc-http-host=0.0.0.0", "--rpc-ws-host=0.0.0.0", "--metrics-host=0.0.0.0"];
  const options = ["--config-file=node.toml", "--data-path=/data", ...(isInContainers ? everywhere : [])];
  return [
    `  ${name}:`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of compose.
    "    image: ${IBEX_IMAGE:-ibex}",
    `    command: ${JSON.stringify(options)}`,
    `    working_dir: /network/nodes/${name}`,
    `    volumes: [".:/network:ro", "${name}:/data"]`,
    ...(isInContainers ? [] : ["    network_mode: host"]),
    `    environment: { IBEX_HEALTH_URL: "http://127.0.0.1:${ports.http}/liveness" }`,
    "    read_only: true",
    "    cap_drop: [ALL]",
    "    restart: unless-stopped",
    "    stop_grace_period: 30s",
  ];
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
