import type { IncomingMessage, ServerResponse } from "node:http";
import type { FaucetTerms } from "../faucet/gift.ts";
import type { Logger } from "../observability/logger.ts";
import { type Clock, durationClock } from "../primitives/clock.ts";
import type { Result } from "../primitives/result.ts";
import { SERVER_ITSELF } from "../rpc/core/serverItself.ts";
import { createDispatcher } from "../rpc/dispatcher.ts";
import { NETWORK_NAMESPACES, type RpcMethod } from "../rpc/method.ts";
import type { RpcBackend } from "../rpc/ports.ts";
import type { RpcMetrics } from "../rpc/rpcMetrics.ts";
import type { CallerTime } from "../rpc/server/callerTime.ts";
import { HttpAnswers } from "../rpc/server/httpAnswers.ts";
import { createHttpRequestHandler } from "../rpc/server/httpRequests.ts";
import { respondNotAllowed, respondRefusal } from "../rpc/server/httpResponse.ts";
import { InFlightResponses } from "../rpc/server/inFlightResponses.ts";
import { FRAMES_PER_MESSAGE, KEEP_ALIVE_MS, STUCK_READER_MS } from "../rpc/server/limits.ts";
import { Listener, type ListenerParts, type PortSettings } from "../rpc/server/listener.ts";
import type { MessageReader } from "../rpc/server/messageReader.ts";
import { logRefusal } from "../rpc/server/refusalLog.ts";
import { createProxyRule, type HostRule, siteOf } from "../rpc/server/remoteHost.ts";
import type { RpcServer, ServerErrorCode } from "../rpc/server/server.ts";
import { type SharedTotals, shareTotals } from "../rpc/server/sharedTotals.ts";
import { Budget } from "./budget.ts";
import { answerFaucet, FAUCET_PATH, type FaucetServer } from "./faucetRoute.ts";
import { ANSWER_MS, BATCH_SIZE, BODY_BYTES, GIFT_COST, UNREAD_BYTES, VERIFY_PATH } from "./limits.ts";
import { offeredMethods } from "./offer.ts";
import { openPages, type Pages } from "./pages.ts";
import type { VerifierSettings } from "./verify/verifier.ts";
import type { VerifyServer } from "./verify/verifyRoute.ts";
import { visitorHost } from "./visitorHost.ts";

/**
 * The explorer's port: the page and its requests, on one origin (docs/operating/explorer.md).
 *
 *   listener.ts ─> route ┬ GET, HEAD    pages.ts
 *                        ├ POST /       JSON-RPC of this origin, else 403
 *                        ├ /api/faucet  the same origin (faucetRoute.ts)
 *                        ├ /api         the same: verification of contracts (verify/verifyRoute.ts)
 *                        └ Upgrade      the same, and new heads
 *
 * It reaches the node only over JSON-RPC, and offers a fixed list of methods (offer.ts) within a budget (budget.ts).
 */
export interface ExplorerSettings extends Omit<PortSettings, "tls"> {
  /** Proxies whose X-Forwarded-For distinguishes visitors: IP addresses, or `localhost`. */
  readonly visitorProxies: readonly string[];
  /** Whether any free port will do where the port is taken: of the development network, unless a port was given. */
  readonly isAnyPortFine: boolean;
  /** Symbol of the chain's coin. */
  readonly coinSymbol: string;
  /** Undefined where contracts are not verified. */
  readonly verifier: VerifierSettings | undefined;
  /** Undefined where the faucet is off. */
  readonly faucet: FaucetTerms | undefined;
}

interface ExplorerServerParts extends Pick<ListenerParts, "current" | "socket" | "shared"> {
  readonly methods: readonly RpcMethod[];
  readonly backend: RpcBackend;
  readonly reader: MessageReader;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
  readonly totals?: SharedTotals | undefined;
  readonly callerTime?: CallerTime | undefined;
  /** Gives the faucet's coin away, where it is on. */
  readonly give: FaucetServer["give"];
  readonly clock?: Clock;
}

export async function openExplorerServer(
  settings: ExplorerSettings,
  parts: ExplorerServerParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { backend, reader, logger, metrics, callerTime } = parts;
  const { totals = shareTotals(), clock = durationClock } = parts;
  const listener = new Listener(
    {
      ...settings,
      limitOption: "--explorer-max-active-connections",
      keepAliveMs: KEEP_ALIVE_MS,
      idleMs: ANSWER_MS + STUCK_READER_MS,
    },
    parts,
  );
  const isShared = sharedHosts([...settings.proxyAddresses, ...settings.visitorProxies]);
  const budget = new Budget({ isShared: (remoteHost) => isShared.has(remoteHost), nowMs: clock.nowMs });
  const offer = { methods: offeredMethods(parts.methods, budget), modules: new Set(NETWORK_NAMESPACES) };
  const dispatcher = createDispatcher(offer, { backend, logger, metrics, callerTime });
  const isProxy = createProxyRule(settings.visitorProxies);
  const hostOf: HostRule = (request) => visitorHost(request, isProxy);
  const answering = { dispatcher, reader, logger, metrics, totals, clock, hostOf, callerTime };
  const { pipelines } = listener;
  const inFlight = new InFlightResponses(UNREAD_BYTES, { logger, total: totals.httpAnswers });
  const rpc = createHttpRequestHandler(HTTP_SETTINGS, { ...answering, pipelines, inFlight, isForeign });
  const faucet = openFaucet(settings.faucet, { give: parts.give, hostOf }, budget);
  const verification = await openVerification(settings.verifier, {
    backend,
    logger,
    hostOf,
    pipelines,
    answers: new HttpAnswers({ isPrettyPrinted: false }, { logger, inFlight, callerTime }),
    spend: (host, units) => budget.spend(host, units),
  });
  const pages = await openPages();
  listener.onRequest(createRequestHandler({ pages, rpc, faucet, verification, logger, metrics }));
  listener.onUpgrade(WEB_SOCKET_SETTINGS, answering, {
    judgePage: ({ headers }) => (isOwnPage(headers) ? "own" : "refused"),
    hostOf,
  });
  return listener.open();
}

/** The port's own pages are not foreign, and others have already been refused. */
const isForeign = (): boolean => false;

const HTTP_SETTINGS = {
  maxBodyBytes: BODY_BYTES,
  maxBatchSize: BATCH_SIZE,
  timeoutMs: ANSWER_MS,
  isPrettyPrinted: false,
  unreadLimitBytes: UNREAD_BYTES,
};

const WEB_SOCKET_SETTINGS = {
  maxFrameBytes: BODY_BYTES / FRAMES_PER_MESSAGE,
  timeoutMs: ANSWER_MS,
  unreadLimitBytes: UNREAD_BYTES,
};

/** Remote hosts shared by visitors that their proxy does not name, in the budget's form. */
function sharedHosts(proxyAddresses: readonly string[]): ReadonlySet<string> {
  const addresses = proxyAddresses.flatMap((address) => (address === "localhost" ? LOOPBACK : [address]));
  return new Set(addresses.map(siteOf));
}

const LOOPBACK = ["127.0.0.1", "::1"];

/** Answers for the faucet, within the budget of its visitors; undefined if it is off. */
function openFaucet(
  terms: FaucetTerms | undefined,
  parts: Omit<FaucetServer, "terms">,
  budget: Budget,
): RequestHandler | undefined {
  if (terms === undefined) return undefined;
  const answering = { ...parts, terms };
  return (request, response) => {
    if (budget.spend(parts.hostOf(request), GIFT_COST)) answerFaucet(answering, request, response);
    else respondRefusal(response, 429, "Too many requests.");
  };
}

/** Answers for the verification of contracts, within the budget of its visitors; undefined if it is off. */
async function openVerification(
  settings: VerifierSettings | undefined,
  {
    backend,
    logger,
    ...answering
  }: Pick<ExplorerServerParts, "backend" | "logger"> & Omit<VerifyServer, "verifier">,
): Promise<RequestHandler | undefined> {
  if (settings === undefined) return undefined;
  // Not loaded where it is off.
  const { VerifyRoute } = await import("./verify/verifyRoute.ts");
  const { Verifier } = await import("./verify/verifier.ts");
  const verifier = new Verifier(settings, {
    async codeOf(address) {
      await backend.newestHead();
      const { chain } = backend;
      const state = chain.stateAt(chain.head.header.number);
      const account = state?.account(address);
      return account && state?.code(account.codeHash);
    },
    isValidator: async () => (await backend.consensus.status(SERVER_ITSELF)).isValidator,
    logger,
  });
  process.once("exit", () => verifier.close());
  const route = new VerifyRoute({ ...answering, verifier });
  return (request, response) => route.answer(request, response);
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

interface RequestParts extends Pick<ExplorerServerParts, "logger" | "metrics"> {
  readonly pages: Pages;
  readonly rpc: RequestHandler;
  readonly faucet: RequestHandler | undefined;
  readonly verification: RequestHandler | undefined;
}

function createRequestHandler({
  pages,
  rpc,
  faucet,
  verification,
  logger,
  metrics,
}: RequestParts): RequestHandler {
  function answerOwn(answer: RequestHandler, request: IncomingMessage, response: ServerResponse): void {
    if (isOwnPage(request.headers)) {
      answer(request, response);
      return;
    }
    metrics?.rejected("origin");
    logRefusal(logger, "origin not allowed", request.socket.remoteAddress);
    respondRefusal(response, 403, "The explorer answers its own pages only.");
  }

  function answerFaucetPath(request: IncomingMessage, response: ServerResponse): void {
    if (faucet === undefined) respondOff(request, response, "This node has no faucet.");
    else if (/^(GET|POST)$/.test(request.method ?? "")) answerOwn(faucet, request, response);
    else respondNotAllowed(response, "GET,POST");
  }

  function answerVerificationPath(request: IncomingMessage, response: ServerResponse): void {
    if (verification === undefined) respondOff(request, response, "This node verifies no contracts.");
    else if (/^(GET|POST)$/.test(request.method ?? "")) answerOwn(verification, request, response);
    else respondNotAllowed(response, "GET,POST");
  }

  return (request, response) => {
    if (request.url === FAUCET_PATH) answerFaucetPath(request, response);
    else if (isVerification(request.url)) answerVerificationPath(request, response);
    else if (request.method === "GET" || request.method === "HEAD") pages.answer(request, response);
    else if (request.method === "POST" && request.url === "/") answerOwn(rpc, request, response);
    else respondNotAllowed(response, request.url === "/" ? "GET,HEAD,POST" : "GET,HEAD");
  };
}

/** Responds without a body when the page asks whether there is such a thing: browsers report a 404 as an error. */
function respondOff(request: IncomingMessage, response: ServerResponse, message: string): void {
  if (request.method === "GET") response.writeHead(204).end();
  else respondRefusal(response, 404, message);
}

/** Whether the path is that of the verification, with any query. */
function isVerification(url = ""): boolean {
  const [path] = url.split("?", 1);
  return path === VERIFY_PATH || path === `${VERIFY_PATH}/`;
}

/**
 * Whether a request comes from this port's own page, or from a program. Browsers send Origin with every POST and every
 * WebSocket handshake, even to a page's own origin, and pages cannot change it. The host was checked before
 * (--host-allowlist), and a proxy in front of the node may terminate TLS.
 */
function isOwnPage({ origin, host = "", "sec-fetch-site": site }: IncomingMessage["headers"]): boolean {
  if (origin === undefined) return site === undefined || site === "same-origin" || site === "none";
  const text = origin.toLowerCase();
  const name = host.toLowerCase();
  return text === `http://${name}` || text === `https://${name}`;
}
