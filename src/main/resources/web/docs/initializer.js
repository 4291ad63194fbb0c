"use strict";

// The bar on top would load any description from anywhere; here there is only one.
const withoutTopbar = () => ({ components: { Topbar: () => null } });

window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [withoutTopbar],
  layout: "StandaloneLayout",
});
