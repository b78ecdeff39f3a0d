import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { type Gate, tokenOf } from "../access/gate.ts";
import type { Grant } from "../access/grant.ts";
import type { Caller } from "../caller.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { acceptsJson } from "./accept.ts";
import type { CallerTime } from "./callerTime.ts";
import type { ForeignRule } from "./foreignPages.ts";
import { readBody } from "./httpBody.ts";
import { respondUntyped } from "./httpResponse.ts";
import type { Pipelines } from "./pipelines.ts";
import { logRefusal } from "./refusalLog.ts";
import { connectionHost, type HostRule } from "./remoteHost.ts";

export interface IntakeSettings {
  readonly maxBodyBytes: number;
  /** Time to answer; then the client gets 504 and the connection is closed. */
  readonly timeoutMs: number;
}

export interface IntakeParts {
  readonly pipelines: Pipelines;
  /** Recognizes requests of foreign pages. */
  readonly isForeign: ForeignRule;
  /** Absent where everybody may call. */
  readonly gate?: Gate | undefined;
  readonly metrics?: RpcMetrics | undefined;
  /** Names a request's remote host; connectionHost if not given. */
  readonly hostOf?: HostRule;
  readonly logger: Logger;
}

/**
 * What a request passes before its body is read as anything, whatever is spoken:
 *
 *   token ─401─> body: bounded ─413─> Accept ─406─> pipelined ones: after the answers before ─> the turn of its host ─> begin
 *
 * The checks of host and origin come before, the time limit of the answer after.
 */
export class HttpIntake {
  private readonly settings: IntakeSettings;
  private readonly parts: IntakeParts;
  private readonly callerTime: CallerTime;
  private readonly refuseUnauthorized: (response: ServerResponse) => void;

  /** `refuseUnauthorized` answers who has no token where nothing can be called without. */
  constructor(
    settings: IntakeSettings,
    parts: IntakeParts,
    callerTime: CallerTime,
    refuseUnauthorized: (response: ServerResponse) => void,
  ) {
    this.settings = settings;
    this.parts = parts;
    this.callerTime = callerTime;
    this.refuseUnauthorized = refuseUnauthorized;
  }

  /** Calls `begin` with the body and its sender, once; never for what is refused or breaks off. */
  take(
    request: IncomingMessage,
    response: ServerResponse,
    begin: (body: string, caller: HttpCaller) => void,
  ): void {
    const { gate } = this.parts;
    const token = gate === undefined ? undefined : tokenOf(request);
    if (gate?.needsToken === true && token === undefined) {
      this.refuseAnonymous(request, response);
      return;
    }
    readBody(request, this.settings.maxBodyBytes, (body) => {
      try {
        const grant = gate?.grant(token, request.socket.remoteAddress);
        const known = onceKnown(grant, (granted) =>
          this.onBody(request, response, { body, grant: granted, begin }),
        );
        if (known instanceof Promise) known.catch((error: unknown) => this.breakOff(response, error));
      } catch (error) {
        this.breakOff(response, error);
      }
    });
  }

  /** Runs slow work. After the time limit the client gets 504, or the connection is cut when parts were already sent. */
  withTimeout(response: ServerResponse, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.parts.metrics?.rejected("timeout");
      this.logRefusal("not answered in time", response.req);
      if (response.headersSent) {
        response.destroy();
      } else {
        response.shouldKeepAlive = false;
        respondUntyped(response, 504, "");
      }
    }, this.settings.timeoutMs);
    work()
      .catch((error: unknown) => this.breakOff(response, error))
      .finally(() => clearTimeout(timer));
  }

  logRefusal(reason: string, { socket }: IncomingMessage): void {
    logRefusal(this.parts.logger, reason, socket.remoteAddress);
  }

  /** Handles a bug of the node: only the connection of this request is ended. */
  breakOff(response: ServerResponse, error: unknown): void {
    this.parts.logger.error({ error }, "HTTP request failed");
    response.destroy();
  }

  /** Refuses a request without reading it, because its body would be in memory. */
  private refuseAnonymous(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isAcceptable(request, response)) return;
    this.parts.metrics?.rejected("token");
    this.logRefusal("no token", request);
    this.refuseUnauthorized(response);
  }

  private isAcceptable(request: IncomingMessage, response: ServerResponse): boolean {
    if (acceptsJson(request.headers.accept)) return true;
    this.logRefusal("JSON not accepted", request);
    respondUntyped(response, 406, "");
    return false;
  }

  private onBody(
    request: IncomingMessage,
    response: ServerResponse,
    {
      body,
      grant,
      begin,
    }: {
      readonly body: string | undefined;
      readonly grant: Grant | undefined;
      readonly begin: (body: string, caller: HttpCaller) => void;
    },
  ): void {
    if (body === undefined) {
      this.parts.metrics?.rejected("body");
      this.logRefusal("body too large", request);
      respondUntyped(response, 413, "Request Entity Too Large");
      return;
    }
    if (!this.isAcceptable(request, response)) return;
    const isForeignPage = this.parts.isForeign(request.headers);
    const caller = new HttpCaller(request, response, { isForeignPage, grant }, this.parts.hostOf);
    this.parts.pipelines.whenFirst(response, () =>
      this.inTurn(response, caller, () => {
        if (!caller.isAbandoned()) begin(body, caller);
      }),
    );
  }

  private inTurn(response: ServerResponse, { remoteHost }: Caller, begin: () => void): void {
    const { callerTime } = this;
    if (callerTime.isFree(remoteHost)) callerTime.now(remoteHost, begin);
    else callerTime.inTurn(remoteHost, begin).catch((error: unknown) => this.breakOff(response, error));
  }
}

/** Who sent a request over HTTP. */
export class HttpCaller implements Caller {
  readonly connection = undefined;
  readonly isForeignPage: boolean;
  readonly grant: Grant | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #hostOf: HostRule;
  #remoteHost: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { isForeignPage, grant }: Pick<Caller, "isForeignPage" | "grant">,
    hostOf: HostRule = connectionHost,
  ) {
    this.isForeignPage = isForeignPage;
    this.grant = grant;
    this.#request = request;
    this.#response = response;
    this.#hostOf = hostOf;
  }

  /** Computed on first use, because few requests need it; kept after the connection has closed. */
  get remoteHost(): string {
    this.#remoteHost ??= this.#hostOf(this.#request);
    return this.#remoteHost;
  }

  /** The connection, so that pipelined requests share one turn among all clients. */
  get client(): object {
    return this.#request.socket;
  }

  isAbandoned(): boolean {
    return this.#request.socket.destroyed || this.#response.writableEnded;
  }
}
