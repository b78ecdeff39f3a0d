/** The text of an answer as Besu writes it, whose -32602 and eth_getWork say no more than their message. */
export function withoutProblems(json: string): string {
  return json
    .replaceAll(
      /("code":-3260[23],"message":"(?:Invalid params|Internal error)"),"data":"(?:parameter|expected|the |more than)[^"]*"/g,
      "$1",
    )
    .replaceAll(/("message":"Requested range exceeds maximum RPC range limit"),"data":"--rpc-[^"]*"/g, "$1");
}
