// Browsers start no worker for a page that is opened as a file. The search of such a page runs in a
// hidden frame instead, which is asked and answers as a worker would.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;
    #frame = document.createElement("iframe");
    #waiting = [];
    #isReady = false;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.documentElement.append(this.#frame);
      const inside = this.#frame.contentWindow;
      // Messages arrive later, as copies.
      inside.postMessage = (data) => setTimeout(() => this.#heard(structuredClone(data)));
      const script = inside.document.createElement("script");
      script.src = new URL(url, location).href;
      script.onload = () => {
        this.#isReady = true;
        this.#waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#isReady) {
        const event = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => this.#frame.contentWindow?.dispatchEvent(event));
      } else {
        this.#waiting.push(data);
      }
    }

    #heard(data) {
      const event = new MessageEvent("message", { data });
      this.onmessage?.(event);
      this.dispatchEvent(event);
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
