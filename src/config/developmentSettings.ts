import { type ApiGroup, DEVELOPMENT_API_GROUPS } from "./apiGroups.ts";
import { report } from "./diagnostics.ts";
import type { OptionName } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import type { DevelopmentSettings, OfferSettings, Settings } from "./settings.ts";

/** Options that give the node another key, or peers: others would then share the chain, or its blocks would be others' to make. */
const OPTIONS_AGAINST_COMFORTS: readonly OptionName[] = [
  "node-private-key-file",
  "node-keystore-file",
  "validator-signer-url",
  "override-genesis-config",
];

const GROUP_OPTIONS = ["rpc-http-api", "rpc-ws-api", "Xrpc-ipc-api"] as const;

/**
 * The comforts of the development network (development-network.md#the-comforts): only with its built-in genesis file and key, and without peers.
 * Whatever asks for them elsewhere is a problem, which says why.
 */
export function developmentSettings(
  options: ResolvedOptions,
  isDevelopmentNetwork: boolean,
): { readonly settings: DevelopmentSettings | undefined; readonly problems: readonly string[] } {
  const { values, isGiven } = options;
  const why = isDevelopmentNetwork ? whyNotHere(options) : "this is another network";
  if (why === undefined) {
    const settings = {
      isInstant: values["dev-instant-blocks"],
      isRemoteAllowed: values["dev-allow-remote"],
    };
    return { settings, problems: remoteProblems(options) };
  }
  const problems = GROUP_OPTIONS.filter((name) => isGiven(name) && namesOne(values[name])).map((name) =>
    report(
      options,
      `The API groups ${DEVELOPMENT_API_GROUPS.join(", ")} belong to the development network alone (npm start), with its own genesis ` +
        `file and key and without peers, and ${why}: remove ${namedIn(values[name])} from --${name}.`,
      name,
    ),
  );
  for (const name of ["dev-instant-blocks", "dev-allow-remote"] as const)
    if (values[name])
      problems.push(
        report(
          options,
          `--${name} belongs to the development network alone (npm start), with its own genesis file and key and without peers, and ` +
            `${why}.`,
          name,
        ),
      );
  return { settings: undefined, problems };
}

/** The same servers, without the groups of development where they are not to be offered. */
export function offering<Servers extends Pick<Settings, "http" | "webSocket" | "ipc">>(
  servers: Servers,
  development: Settings["development"],
): Servers {
  const { http, webSocket, ipc } = servers;
  const isOffered = (host: string | undefined): boolean => offersDevelopment(development, host);
  return {
    ...servers,
    http: http && !isOffered(http.host) ? withoutDevelopment(http) : http,
    webSocket: webSocket && !isOffered(webSocket.host) ? withoutDevelopment(webSocket) : webSocket,
    ipc: ipc && !isOffered(undefined) ? withoutDevelopment(ipc) : ipc,
  };
}

function withoutDevelopment<Offer extends OfferSettings>(offer: Offer): Offer {
  return { ...offer, groups: offer.groups.filter((group) => !DEVELOPMENT_API_GROUPS.includes(group)) };
}

/** Whether a server of JSON-RPC offers the groups of development, where it listens. */
function offersDevelopment(development: Settings["development"], host: string | undefined): boolean {
  return development !== undefined && (development.isRemoteAllowed || host === undefined || isLoopback(host));
}

function whyNotHere({ values, isGiven }: ResolvedOptions): string | undefined {
  if (values["p2p-enabled"]) return "--p2p-enabled=true lets others take part";
  const other = OPTIONS_AGAINST_COMFORTS.find((name) => isGiven(name));
  return other === undefined ? undefined : `--${other} is given`;
}

function remoteProblems(options: ResolvedOptions): string[] {
  const { values, isGiven } = options;
  if (values["dev-allow-remote"]) return [];
  return (
    [
      ["rpc-http-api", "rpc-http-enabled", "rpc-http-host"],
      ["rpc-ws-api", "rpc-ws-enabled", "rpc-ws-host"],
    ] as const
  )
    .filter(
      ([api, enabled, host]) =>
        values[enabled] && isGiven(api) && namesOne(values[api]) && !isLoopback(values[host]),
    )
    .map(([api, , host]) =>
      report(
        options,
        `${namedIn(values[api])} of --${api} let every program that reaches ${values[host]} change this chain: listen on 127.0.0.1, or allow it ` +
          "with --dev-allow-remote.",
        api,
        host,
      ),
    );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.[0-9]{1,3}){3}$/.test(host);
}

function namesOne(groups: readonly ApiGroup[]): boolean {
  return groups.some((group) => DEVELOPMENT_API_GROUPS.includes(group));
}

function namedIn(groups: readonly ApiGroup[]): string {
  return groups.filter((group) => DEVELOPMENT_API_GROUPS.includes(group)).join(", ");
}
