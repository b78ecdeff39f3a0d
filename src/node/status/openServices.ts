import type { ServiceEndpoints } from "../../rpc/core/coreParts.ts";
import { type Endpoints, endpointsByService } from "../../rpc/server/serverTable.ts";

/** The services that are open by now. What tells of them opens before they do, and callers may ask while some open. */
export class OpenServices {
  private endpoints: ServiceEndpoints = {};

  get now(): ServiceEndpoints {
    return this.endpoints;
  }

  /** Takes note of all servers that are open. */
  note(endpoints: Endpoints): void {
    this.endpoints = endpointsByService(endpoints);
  }
}
