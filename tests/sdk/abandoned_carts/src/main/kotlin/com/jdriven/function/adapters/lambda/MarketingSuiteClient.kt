package com.jdriven.function.adapters.lambda

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse

class MarketingSuiteClient(private val url: String = System.getenv("MARKETING_URL")) {

  sealed interface Result {
    data object Success : Result
    data class Failure(val response: HttpResponse<String>) : Result
  }

  private val http: HttpClient = HttpClient.newHttpClient()

  fun send(cart: AbandonedCartData): Result {
    val request = HttpRequest.newBuilder(URI.create(url))
      .header("content-type", "application/json")
      .POST(HttpRequest.BodyPublishers.ofString(toJson(cart)))
      .build()
    val response = http.send(request, HttpResponse.BodyHandlers.ofString())
    return if (response.statusCode() in 200..299) Result.Success else Result.Failure(response)
  }

  private fun toJson(cart: AbandonedCartData): String =
    """{"uid":${quote(cart.uid)},"skus":${cart.skus?.joinToString(",", "[", "]") { quote(it) }},""" +
      """"customeruid":${quote(cart.customeruid)},"ttl":${cart.ttl}}"""

  private fun quote(text: String?): String =
    text?.let { "\"" + it.replace("\\", "\\\\").replace("\"", "\\\"") + "\"" } ?: "null"
}
